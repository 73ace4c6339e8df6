// SPDX-License-Identifier: Apache-2.0
// Small models of hexahedra in the formats that are read, made by hand, for tests of the readers,
// the damaged-file corpus and the seeds of the fuzz targets. All are the two cubes of TwoHexa, held
// at x = 0, with nodes that no element has. Shares nothing with the readers.
#pragma once

#include "tests/core/io/mesh/element_samples.hpp"

namespace ossatura_test {

/// As CalculiX reads it: numbers of nodes with gaps, two steps, the second of which adds a force.
inline Bytes sample_inp() {
  return "*Heading\ntwo cubes, by hand\n** a comment\n*NODE, NSET=Nall\n"
         "99, 9., 9., 9.\n10, 0., 0., 0.\n20, 1., 0., 0.\n30, 2.\n40, 0., 1., 0.\n"
         "50, 1., 1., 0.\n60, 2., 1.\n70, 0., 0., 1.\n80, 1.d0, 0., +1.\n90, 2., 0., 1.\n"
         "100, 0., 1., 1.\n110, 1., 1., 1.\n120, 2., 1., 1.\n"
         "*ELEMENT, TYPE=C3D8, ELSET=Body\n7, 10, 20, 50, 40, 70, 80, 110, 100\n"
         "8, 20, 30, 60, 50, 80, 90,\n120, 110\n"
         "*ELEMENT, TYPE=CPS4, ELSET=Wall\n1, 10, 40, 100, 70\n"
         "*NSET, NSET=Clamp\n10, 40\n70, 100\n*NSET, NSET=Line, GENERATE\n30, 120, 30\n"
         "*NSET, NSET=Both\nClamp, line, 10\n*ELSET, ELSET=All, GENERATE\n7, 8\n"
         "*ELSET, ELSET=Right\n8,\n*SURFACE, NAME=Top, TYPE=ELEMENT\nAll, S2\n"
         "*MATERIAL, NAME=Steel\n*ELASTIC\n210000., 0.3\n*DENSITY\n7.8e-9\n"
         "*SOLID SECTION, ELSET=All,\nMATERIAL=Steel\n"
         "*BOUNDARY\nClamp, 1, 3\n60, 3, 3, 0.\n*BOUNDARY\n30, YSYMM\n"
         "*STEP\n*STATIC\n*CLOAD\n90, 2, 5.\nLine, 3, -0.5\n90, 2, 1.\n"
         "*DLOAD\nRight, P4, 8.\n*NODE FILE\nU\n*EL PRINT, ELSET=All\nS\n*END STEP\n"
         "*STEP, NAME=Upwards\n*STATIC\n*CLOAD\n90, 2, -3.\n*DSLOAD\nTop, P, 2.\n"
         "*END STEP\n";
}

/// As Abaqus/CAE writes it: a part and its instance, which both have a set of the same name.
inline Bytes sample_cae_inp() {
  return "*Heading\n** Job name: two\n*Preprint, echo=NO\n*Part, name=Part-1\n*Node\n"
         "1, 0, 0, 0\n2, 1, 0, 0\n3, 2, 0, 0\n4, 0, 1, 0\n5, 1, 1, 0\n6, 2, 1, 0\n"
         "7, 0, 0, 1\n8, 1, 0, 1\n9, 2, 0, 1\n10, 0, 1, 1\n11, 1, 1, 1\n12, 2, 1, 1\n"
         "*Element, type=C3D8R\n1, 1, 2, 5, 4, 7, 8, 11, 10\n2, 2, 3, 6, 5, 8, 9, 12, 11\n"
         "*Nset, nset=Set-1, generate\n 1, 12, 1\n*Elset, elset=Set-1, generate\n 1, 2, 1\n"
         "*Solid Section, elset=Set-1, material=Material-1\n,\n*End Part\n"
         "*Assembly, name=Assembly\n*Instance, name=Part-1-1, part=Part-1\n*End Instance\n"
         "*Nset, nset=Set-1, instance=Part-1-1\n 1, 4, 7, 10,\n"
         "*Elset, elset=_Surf-1_S4, internal, instance=Part-1-1\n 2,\n"
         "*Surface, type=ELEMENT, name=Surf-1\n_Surf-1_S4, S4\n*End Assembly\n"
         "*Material, name=Material-1\n*Elastic\n 70., 0.25\n*Boundary\nSet-1, ENCASTRE\n"
         "*Step, name=Step-1, nlgeom=NO\n*Static\n1., 1., 1e-05, 1.\n"
         "*Dsload\nSurf-1, P, 4.\n*Output, field, variable=PRESELECT\n*End Step\n";
}

/// What sample_inp() has, but two materials, and steps that move nodes, load mass and warm.
inline Bytes sample_moved_inp() {
  const Bytes whole = sample_inp();
  return whole.substr(0, whole.find("*MATERIAL")) +
         "*MATERIAL, NAME=Steel\n*ELASTIC\n210000., 0.3\n*DENSITY\n7.8e-9\n"
         "*MATERIAL, NAME=Alloy\n*DENSITY\n2.7e-9\n*ELASTIC\n70000., 0.3\n"
         "*EXPANSION, ZERO=20.\n2.3e-5\n"
         "*ELSET, ELSET=Left\n7\n*SOLID SECTION, ELSET=Right, MATERIAL=Alloy\n"
         "*SOLID SECTION, ELSET=Left, MATERIAL=Steel\n*BOUNDARY\nClamp, 1, 3\n"
         "*INITIAL CONDITIONS, TYPE=TEMPERATURE\nNall, 20.\n"
         "*STEP\n*STATIC\n*BOUNDARY\nLine, 1, 1, 0.25\n120, 3, , -0.5\n*END STEP\n"
         "*STEP, NAME=Back\n*STATIC\n*BOUNDARY\n120, 1, 1, 0.\n*CLOAD\n50, 2, 4.\n*DLOAD\n, GRAV, "
         "9810., 0., 0., -2.\n"
         "All, CENTRIF, 4., 1., 2., 3., 0., 3., 4.\n*TEMPERATURE\nLine, 45.\n120, 8.\n*END STEP\n"
         "*STEP, PERTURBATION\n*STATIC\n*CLOAD\n50, 2, 1.\n*END STEP\n";
}

/// The same with couplings: faces that take force and moment of a node, and a rigid end.
inline Bytes sample_coupled_inp() {
  const Bytes whole = sample_inp();
  const std::size_t elements = whole.find("*ELEMENT"), supports = whole.find("*BOUNDARY");
  return whole.substr(0, elements) +
         "*NODE, NSET=Ref\n500, 4., 0.5, 0.5\n*NODE\n501, 0., 0., 0.\n"
         "502, 0., 0., 0.\n503, 2., 0., 0.\n" +
         whole.substr(elements, supports - elements) +
         "*SURFACE, NAME=End\nRight, S4\n*SURFACE, NAME=Corners, TYPE=NODE\n30,\n60, 1.\nLine\n"
         "*COUPLING, CONSTRAINT NAME=C1, REF NODE=Ref, SURFACE=End\n*DISTRIBUTING\n1, 6\n"
         "*COUPLING, CONSTRAINT NAME=C2, REF NODE=503, SURFACE=Corners\n*DISTRIBUTING\n1, 3\n"
         "*RIGID BODY, NSET=Clamp, REF NODE=501, ROT NODE=502\n"
         "*BOUNDARY\n502, 1, 3\n501, 2, 3\n"
         "*STEP\n*STATIC\n*BOUNDARY\n501, 1, 1, -0.01\n"
         "*CLOAD\nRef, 1, 8.\n500, 6, 2.\n503, 3, 4.\n*END STEP\n"
         "*STEP\n*STATIC\n*CLOAD\n500, 6, 0.\n*END STEP\n";
}

/// As CDWRITE,DB writes it, a force and a pressure on the top; numbers fill their columns.
inline Bytes sample_cdb() {
  return "/COM,ANSYS RELEASE\n/PREP7\n/TITLE,two cubes, it's\n"
         "*IF,_CDRDOFF,EQ,1,THEN     !if solid model was read in\n_CDRDOFF=     !reset\n"
         "*ELSE              !offset\nNUMOFF,NODE,  99\n*ENDIF\nDOF,DELETE\n"
         "ET,        1,185\nKEYOP,        1, 2,        2\nRLBLOCK,       1,       2,       6\n"
         "(2i8,6g16.9)\n       2       6  1.00000000     0.566900000E-07\n"
         "NBLOCK,6,SOLID,        99,        13\n(3i4,6e21.13e3)\n"
         "   1   0   0\n   2   0   0 1.0000000000000E+000\n   3   0   0 2.0000000000000E+000\n"
         "   4   0   0 0.0000000000000E+000 1.0000000000000E+000\n"
         "   5   0   0 1.0000000000000E+000 1.0000000000000E+000\n"
         "   6   0   0 2.0000000000000E+000 1.0000000000000E+000\n"
         "   7   0   0 0.0000000000000E+000 0.0000000000000E+000 1.0000000000000E+000\n"
         "   8   0   0 1.0000000000000E+000 0.0000000000000E+000 1.0000000000000E+000\n"
         "   9   0   0 2.0000000000000E+000 0.0000000000000E+000 1.0000000000000E+000\n"
         "1010   0   0 0.0000000000000E+000 1.0000000000000E+000 1.0000000000000E+000\n"
         "1011   0   0 1.0000000000000E+000 1.0000000000000E+000 1.0000000000000E+000\n"
         "1012   0   0 2.0000000000000E+000 1.0000000000000E+000 1.0000000000000E+000\n"
         "1013   0   0-9.0000000000000E+000-9.0000000000000E+000-9.0000000000000E+000\n"
         "N,R5.3,LOC,       -1,\nEBLOCK,19,SOLID,         8,         2\n(19i4)\n"
         "   1   1   1   1   0   0   0   0   8   0   7   1   2   5   4   7   810111010\n"
         "   1   1   1   1   0   0   0   0   8   0   8   2   3   6   5   8   910121011\n"
         "  -1\nCMBLOCK,CLAMP   ,NODE,       4  ! users node component definition\n"
         "(8i10)\n         1         4         7      1010\n"
         "CMBLOCK,LOW,NODE,       2\n(8i10)\n         1        -9\n"
         "CMBLOCK,BODY,ELEM,       2\n(8i10)\n         7        -8\n"
         "MPTEMP,R5.0, 1, 1,  0.00000000    ,\n"
         "MPDATA,R5.0, 1,EX  ,       1, 1,  210000.000    ,\n"
         "MPDATA,R5.0, 1,NUXY,       1, 1, 0.300000000    ,\n"
         "MPDATA,R5.0, 1,DENS,       1, 1,  7850.00000    ,\nEXTOPT,ACLEAR,      0\n"
         "TREF,  0.00000000\nBFUNIF,TEMP,_TINY\nACEL,  0.00000000    ,  0.00000000\n"
         "CMSEL,S,CLAMP\nD,ALL,ALL\nALLSEL\nD,      6,UZ  ,  0.00000000    ,  0.00000000    \n"
         "F,      9,FY  ,  5.00000000    ,  0.00000000    \n"
         "SFE,       8,   6,PRES, 1,R5.0\n  8.00000000      8.00000000      8.00000000  8.0\n"
         "SFE,       8,   6,PRES, 2,R5.0\n  0.00000000      0.00000000\n"
         "TYPE, 1  $ MAT, 1  $ REAL, 1\n/GO\nFINISH\n";
}

/// sample_gmsh_2_hexa() with physical groups as Gmsh writes them: elements again for each.
inline Bytes sample_gmsh_2_groups() {
  return "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n4\n0 1 \"tip\"\n2 2 \"the wall\"\n"
         "3 3 \"solid\"\n3 4 \"right\"\n$EndPhysicalNames\n$Nodes\n13\n99 9 9 9\n"
         "1 0 0 0\n2 1 0 0\n3 2 0 0\n4 0 1 0\n5 1 1 0\n6 2 1 0\n"
         "7 0 0 1\n8 1 0 1\n9 2 0 1\n10 0 1 1\n11 1 1 1\n12 2 1 1\n$EndNodes\n$Elements\n7\n"
         "1 15 2 1 1 9\n2 3 2 2 1 1 4 10 7\n3 5 2 3 1 1 2 5 4 7 8 11 10\n"
         "4 5 2 3 1 2 3 6 5 8 9 12 11\n5 5 2 4 1 2 3 6 5 8 9 12 11\n6 1 2 17 1 3 6\n"
         "7 1 2 17 2 6 12\n$EndElements\n";
}

/// The same in format 4.1, where entities name their groups.
inline Bytes sample_gmsh_4_groups() {
  return "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$PhysicalNames\n4\n0 1 \"tip\"\n"
         "2 2 \"the wall\"\n3 3 \"solid\"\n3 4 \"right\"\n$EndPhysicalNames\n$Entities\n1 2 1 2\n"
         "1 2 0 1 1 1\n1 2 0 0 2 1 0 1 17 0\n2 2 1 0 2 1 1 1 -17 0\n1 0 0 0 0 1 1 1 2 0\n"
         "1 0 0 0 1 1 1 1 3 0\n2 1 0 0 2 1 1 2 3 4 0\n$EndEntities\n"
         "$Nodes\n1 13 1 99\n3 1 0 13\n99\n1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n9 9 9\n"
         "0 0 0\n1 0 0\n2 0 0\n0 1 0\n1 1 0\n2 1 0\n0 0 1\n1 0 1\n2 0 1\n0 1 1\n1 1 1\n2 1 1\n"
         "$EndNodes\n$Elements\n6 6 1 6\n0 1 15 1\n1 9\n2 1 3 1\n2 1 4 10 7\n"
         "3 1 5 1\n3 1 2 5 4 7 8 11 10\n3 2 5 1\n4 2 3 6 5 8 9 12 11\n1 1 1 1\n5 3 6\n"
         "1 2 1 1\n6 6 12\n$EndElements\n";
}

} // namespace ossatura_test
