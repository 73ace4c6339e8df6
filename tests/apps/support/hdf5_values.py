# SPDX-License-Identifier: Apache-2.0
"""Numbers from HDF5 files by way of the C library, for tests: h5py is not everywhere."""
import ctypes
import ctypes.util
import unittest


def library():
    for name in ("hdf5_serial", "hdf5"):
        found = ctypes.util.find_library(name)
        if found:
            return ctypes.CDLL(found)
    raise unittest.SkipTest("the HDF5 library is not found by its name")


def write(path, group, values, elsewhere=()):
    """A file with one group, maybe in others, of doubles, or of integers where all are: name -> (extents, flat list); no extents for a
    number. The names in `elsewhere` have their values in a file of their own, PATH.NAME."""
    hdf5 = library()
    hid = ctypes.c_int64
    for function, arguments in (
            ("H5Fcreate", [ctypes.c_char_p, ctypes.c_uint, hid, hid]),
            ("H5Gcreate2", [hid, ctypes.c_char_p, hid, hid, hid]),
            ("H5Pcreate", [hid]),
            ("H5Screate_simple", [ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p]),
            ("H5Dcreate2", [hid, ctypes.c_char_p, hid, hid, hid, hid, hid])):
        getattr(hdf5, function).restype = hid
        getattr(hdf5, function).argtypes = arguments
    hdf5.H5Dwrite.argtypes = [hid] * 5 + [ctypes.c_void_p]
    hdf5.H5Pset_create_intermediate_group.argtypes = [hid, ctypes.c_uint]
    hdf5.H5Pset_external.argtypes = [hid, ctypes.c_char_p, ctypes.c_long, ctypes.c_uint64]
    for function in ("H5Fclose", "H5Gclose", "H5Dclose", "H5Sclose", "H5Pclose"):
        getattr(hdf5, function).argtypes = [hid]
    hdf5.H5open()
    kinds = {True: (hid.in_dll(hdf5, "H5T_NATIVE_INT64_g").value, ctypes.c_int64),
             False: (hid.in_dll(hdf5, "H5T_NATIVE_DOUBLE_g").value, ctypes.c_double)}
    file = hdf5.H5Fcreate(path.encode(), 2, 0, 0)
    parents = hdf5.H5Pcreate(hid.in_dll(hdf5, "H5P_CLS_LINK_CREATE_ID_g").value)
    hdf5.H5Pset_create_intermediate_group(parents, 1)
    place = hdf5.H5Gcreate2(file, group.encode(), parents, 0, 0)
    hdf5.H5Pclose(parents)
    for name, (extents, numbers) in values.items():
        extents = extents or (1,)
        space = hdf5.H5Screate_simple(len(extents), (ctypes.c_uint64 * len(extents))(*extents), None)
        kind, number = kinds[all(isinstance(x, int) for x in numbers)]
        storage = hdf5.H5Pcreate(hid.in_dll(hdf5, "H5P_CLS_DATASET_CREATE_ID_g").value)
        if name in elsewhere:
            hdf5.H5Pset_external(storage, f"{path}.{name}".encode(), 0, 8 * len(numbers))
        dataset = hdf5.H5Dcreate2(place, name.encode(), kind, space, 0, storage, 0)
        if hdf5.H5Dwrite(dataset, kind, 0, 0, 0, (number * len(numbers))(*numbers)) < 0:
            raise OSError(f"{path}: {name} cannot be written")
        hdf5.H5Dclose(dataset)
        hdf5.H5Pclose(storage)
        hdf5.H5Sclose(space)
    hdf5.H5Gclose(place)
    hdf5.H5Fclose(file)


def read(path, name):
    """All values of a dataset as a flat list of doubles."""
    hdf5 = library()
    for function in ("H5Fopen", "H5Dopen2", "H5Dget_space"):
        getattr(hdf5, function).restype = ctypes.c_int64
    hdf5.H5Sget_simple_extent_npoints.restype = ctypes.c_int64
    hdf5.H5Sget_simple_extent_npoints.argtypes = [ctypes.c_int64]
    hdf5.H5Dget_space.argtypes = [ctypes.c_int64]
    hdf5.H5Fopen.argtypes = [ctypes.c_char_p, ctypes.c_uint, ctypes.c_int64]
    hdf5.H5Dopen2.argtypes = [ctypes.c_int64, ctypes.c_char_p, ctypes.c_int64]
    hdf5.H5Dread.argtypes = [ctypes.c_int64] * 5 + [ctypes.c_void_p]
    hdf5.H5Fclose.argtypes = hdf5.H5Dclose.argtypes = hdf5.H5Sclose.argtypes = [ctypes.c_int64]
    hdf5.H5open()
    double = ctypes.c_int64.in_dll(hdf5, "H5T_NATIVE_DOUBLE_g").value
    file = hdf5.H5Fopen(path.encode(), 0, 0)
    if file < 0:
        raise OSError(f"{path} is no HDF5 file")
    dataset = hdf5.H5Dopen2(file, name.encode(), 0)
    if dataset < 0:
        raise KeyError(name)
    space = hdf5.H5Dget_space(dataset)
    values = (ctypes.c_double * hdf5.H5Sget_simple_extent_npoints(space))()
    if hdf5.H5Dread(dataset, double, 0, 0, 0, values) < 0:
        raise OSError(f"{path}: {name} cannot be read")
    hdf5.H5Sclose(space)
    hdf5.H5Dclose(dataset)
    hdf5.H5Fclose(file)
    return list(values)


def change(path, name, at, value):
    """Puts a number in the place of one of a dataset."""
    values = read(path, name)
    values[at] = value
    hdf5 = library()
    for function in ("H5Fopen", "H5Dopen2"):
        getattr(hdf5, function).restype = ctypes.c_int64
    hdf5.H5Fopen.argtypes = [ctypes.c_char_p, ctypes.c_uint, ctypes.c_int64]
    hdf5.H5Dopen2.argtypes = [ctypes.c_int64, ctypes.c_char_p, ctypes.c_int64]
    hdf5.H5Dopen2.argtypes = [ctypes.c_int64, ctypes.c_char_p, ctypes.c_int64]
    hdf5.H5Dwrite.argtypes = [ctypes.c_int64] * 5 + [ctypes.c_void_p]
    hdf5.H5Fclose.argtypes = hdf5.H5Dclose.argtypes = [ctypes.c_int64]
    double = ctypes.c_int64.in_dll(hdf5, "H5T_NATIVE_DOUBLE_g").value
    file = hdf5.H5Fopen(path.encode(), 1, 0)
    dataset = hdf5.H5Dopen2(file, name.encode(), 0)
    if hdf5.H5Dwrite(dataset, double, 0, 0, 0, (ctypes.c_double * len(values))(*values)) < 0:
        raise OSError(f"{path}: {name} cannot be written")
    hdf5.H5Dclose(dataset)
    hdf5.H5Fclose(file)
