# SPDX-License-Identifier: Apache-2.0
"""`ossatura bone` with a mask in DICOM, a segmentation or a series of labels: the same labels as NIfTI, and masks
that do not lie on the image."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from dicom_series import COLUMNS, EDGE, FIRST, LAW, NORMAL, ROWS, SHAPE, Series
from support import driver_case
from support.dicom import IMPLICIT, RLE
from support.dicom_segmentation import segmentation
from support.driver_case import BAD_FILE, DONE
from support.specimens import nifti_bytes

SEGMENTS = ((1, "L3", "Vertebra"), (2, "shell", "Cortical bone"), (7, "disc", "Disc"))


def label(x, y, z):
    """As the mask of Series has it, but for the highest plane without labels and one voxel of a third segment."""
    if z == 4:
        return 0
    return 7 if (x, y, z) == (6, 5, 3) else 1 + (x > 2) if y > 0 else 0


def point(x, y, z):
    return [FIRST[i] + EDGE * (x * ROWS[i] + y * COLUMNS[i] + z * NORMAL[i]) for i in range(3)]


def pixels(z, inside):
    return [inside(x, y, z) for y in range(SHAPE[1]) for x in range(SHAPE[0])]


def frames_of(numbers=(7, 1, 2), of=label):
    """A frame for each plane and segment that is not empty, in no order."""
    frames = [(number, point(0, 0, z), pixels(z, lambda *at: of(*at) == number))
              for z in (3, 0, 4, 2, 1) for number in numbers]
    return [frame for frame in frames if any(frame[2])]


class Masks(Series):
    def setUp(self):
        super().setUp()
        rows = [(s * EDGE * ROWS[i], s * EDGE * COLUMNS[i], s * EDGE * NORMAL[i], s * FIRST[i])
                for i, s in enumerate((-1, -1, 1))]
        self.labels = [label(x, y, z) for z in range(5) for y in range(6) for x in range(7)]
        self.mask = self.write("labels.nii", nifti_bytes(SHAPE, EDGE, "h", self.labels, rows))

    def seg(self, name="seg.dcm", frames=None, segments=SEGMENTS, columns=SHAPE[0], **more):
        os.makedirs(os.path.dirname(self.path(name)) or ".", exist_ok=True)
        more = {"along": (ROWS, COLUMNS), "spacing": (EDGE, EDGE), "distance": EDGE, **more}
        return self.write(name, segmentation(frames or frames_of(), columns, segments, **more))

    def label_map(self, name="map.dcm", change=lambda v: v, **more):
        frames = [(0, point(0, 0, z), pixels(z, lambda *at: change(label(*at)))) for z in (3, 0, 2, 1)]
        return self.seg(name, frames, kind="LABELMAP", **more)

    def results_of(self, mask, *arguments, image=None):
        return self.run_of(image or self.nifti, "--mask", mask, *arguments)["results"]

    def refused_mask(self, message, mask, *arguments):
        process = self.fails(BAD_FILE, message, "bone", self.nifti, "--mask", mask, *arguments, *LAW)
        self.assertLess(len(process.stderr), 1500)


class Reading(Masks):
    def same(self, mask, expected, named=True, image=None):
        results = self.results_of(mask, image=image)
        self.assertEqual(results["response"], expected["response"], mask)
        names = {number: of.pop("name", None) for number, of in results["labels"].items()}
        self.assertEqual(results["labels"], expected["labels"], mask)
        self.assertEqual(names, {str(n): text if named else None for n, text, _ in SEGMENTS})
        self.assertEqual(results["sections"], expected["sections"], mask)

    def test_a_segmentation_is_what_nifti_is(self):
        """Frames of 42 bits are not aligned to bytes; the highest plane is empty and has none."""
        expected = self.results_of(self.mask)
        fractions = [(n, at, [(200 if p else 99) for p in bits]) for n, at, bits in frames_of()]
        self.same(self.seg(), expected)
        self.same(self.seg(), expected, image=self.series())
        self.same(self.seg(syntax=IMPLICIT), expected)
        self.same(self.seg(syntax=IMPLICIT, defined=False), expected)
        self.same(self.seg(defined=False, per_frame=True), expected)
        self.same(self.seg(distance=None), expected)
        self.same(self.seg(frames=fractions, kind="FRACTIONAL", most=200), expected)
        self.same(self.seg(frames=fractions, kind="FRACTIONAL", most=200, syntax=RLE), expected)
        self.same(self.label_map(), expected)
        self.same(self.label_map(bits=16), expected)
        self.same(self.label_map(syntax=RLE), expected)
        self.same(self.label_map(change=lambda v: v or 9, padding=9), expected)
        self.same(self.label_map(segments=((0, "background", ""), *SEGMENTS)), expected)
        only = os.path.dirname(self.seg("only/seg.dcm"))
        self.same(only, expected)

    def test_any_axes_of_the_grid(self):
        """Frames across x, from right to left and from above, as a sagittal series has them; and a part of a plane."""
        expected = self.results_of(self.mask)
        frames = []
        for x in range(7):
            for number in (1, 2, 7):
                bits = [label(x, y, z) == number for z in reversed(range(5)) for y in reversed(range(6))]
                if any(bits):
                    frames.append((number, point(x, 5, 4), bits))
        turned = [[-c for c in axis] for axis in (COLUMNS, NORMAL)]
        self.same(self.seg(frames=frames, columns=6, along=turned), expected)
        part = [(n, point(0, 1, z), pixels(z, lambda *at: label(*at) == n)[7:])
                for z in range(4) for n in (1, 2, 7) if n != 7 or z == 3]
        self.same(self.seg(frames=part), expected)

    def test_a_half_is_inside(self):
        """Fractions by the whole."""
        for most in (255, 101):
            frames = [(1, point(0, 0, z), pixels(z, lambda x, y, z: most // 2 + (x > 2))) for z in range(5)]
            run = self.results_of(self.seg(frames=frames, kind="FRACTIONAL", most=most, segments=SEGMENTS[:1]))
            self.assertEqual(run["labels"]["1"]["elements"], 4 * 6 * 5)

    def test_a_series_of_labels(self):
        expected = self.results_of(self.mask)
        for z in range(5):
            self.slice_file(f"labels/{9 - z}.dcm", z, self.labels[42 * z:42 * z + 42], signed=False, bits=8, rescaled=False)
        self.same(self.path("labels"), expected, False)
        run = self.run_of(self.series(), "--mask", self.path("labels"))
        self.assertEqual(run["results"]["labels"], expected["labels"])
        self.assertEqual(len(run["provenance"]["inputs"]), 10)
        self.write("labels/notes.txt", "of the study")
        run = self.run_of(self.nifti, "--mask", self.path("labels/9.dcm"))
        self.assertEqual([w["code"] for w in run["warnings"]], ["files-left-out"])
        self.slice_file("labels/2.dcm", 1, [3] * 42, series="1.2.9")
        self.refused_mask("has 2 series; choose one with --series UID, or give a slice of it", self.path("labels"))
        os.remove(self.path("labels/2.dcm"))
        for z in (0, 2, 3, 4):  # with a rescale, as the one that is wrong
            self.slice_file(f"labels/{9 - z}.dcm", z, self.labels[42 * z:42 * z + 42], signed=False, bits=8, unit="")
        self.slice_file("labels/8.dcm", 1, [0.5] * 42, intercept=-0.5, unit="")
        self.refused_mask("voxel (0, 0, 1) has the value 0.5: a mask holds labels", self.path("labels"))
        os.remove(self.path("labels/9.dcm"))
        self.refused_mask("the mask has 7 x 6 x 4 voxels, and the image", self.path("labels"))

    def test_a_segmentation_beside_the_slices(self):
        """Of the image it is left out; as a mask it has to be named."""
        folder = self.series()
        mask = self.seg("CT/seg.dcm")
        run = self.run_of(folder, "--mask", mask)
        self.assertEqual([w["code"] for w in run["warnings"]], ["files-left-out"])
        self.assertIn("seg.dcm (a segmentation, which --mask reads)", run["warnings"][0]["text"])
        self.assertEqual([os.path.basename(one["path"]) for one in run["provenance"]["inputs"]][-1], "seg.dcm")
        self.refused_mask("CT: has the segmentation seg.dcm, and slices: give the file that is the mask", folder)
        self.seg("two/a.dcm")
        self.seg("two/b.dcm")
        self.refused_mask("two: has 2 segmentations, a.dcm, b.dcm: give the file", self.path("two"))
        self.fails(BAD_FILE, "seg.dcm: is a segmentation, and no image", "bone", mask, *LAW)

    def test_preparation(self):
        """What is done to the image is done to the segmentation."""
        for option in (("--resample", "0.25"), ("--crop", "1:6,:,:"), ("--turn", "z=30"), ("--align", "long"),
                       ("--mask-labels", "1,7", "--pads", "2=100"), ("--label-laws", "1=constant:modulus=500")):
            ours, its = self.results_of(self.seg(), *option), self.results_of(self.mask, *option)
            self.assertEqual(ours["response"], its["response"], option)


class Refusals(Masks):
    def test_frames_that_are_not_on_the_image(self):
        def moved(by, which=2):
            frames = frames_of()
            frames[which] = (frames[which][0], [a + b for a, b in zip(frames[which][1], by)], frames[which][2])
            return frames

        self.refused_mask("seg.dcm: frame 3, of segment 2 'shell', lies between the planes 3 and 4 of the image across z, "
                          "at 3.3", self.seg(frames=moved([0.15 * c for c in NORMAL])))
        self.results_of(self.seg(frames=moved([0.02 * c for c in NORMAL])))  # a number that was rounded
        self.refused_mask("frame 3, of segment 2 'shell', lie elsewhere than the voxels of the image, by 0.2 mm along x",
                          self.seg(frames=moved([0.2 * c for c in ROWS])))
        self.refused_mask("has pixels of its segment at (3, 1, 5), beyond the 7 x 6 x 5 voxels of the image",
                          self.seg(frames=moved([2 * EDGE * c for c in NORMAL])))
        self.refused_mask("are no voxels of the image (0.5 x 0.5 x 0.5 mm)", self.seg(spacing=(0.25, 0.25)))
        self.refused_mask("by 0.06 mm along x at one of its corners: resample the segmentation", self.seg(spacing=(0.51, 0.5)))
        self.refused_mask("are no voxels of the image", self.seg(along=(ROWS, NORMAL[::-1])))
        self.refused_mask("are no voxels of the image", self.seg(along=(ROWS, ROWS)))
        self.refused_mask("the frames are 1 mm apart, and the planes of the image 0.5 mm across z", self.seg(distance=1))
        every = [frame for frame in frames_of((1,), lambda x, y, z: 1)
                 if frame[1] in (point(0, 0, 0), point(0, 0, 2), point(0, 0, 4))]
        self.refused_mask("its frames lie on every 2nd plane of the image", self.seg(frames=every, distance=None))
        self.refused_mask("frame 2, of segment 1 'L3', lies where frame 1 of the same segment does",
                          self.seg(frames=[every[0], every[0]]))
        raw = self.write("ct.raw", bytes([200] * 210))
        self.fails(BAD_FILE, "seg.dcm: frames of a segmentation are placed by their position, and the image says nothing",
                   "bone", raw, "--shape", "7,6,5", "--type", "uint8", "--spacing", "0.5", "--mask", self.seg(), *LAW)

    def test_segments_that_overlap(self):
        frames = frames_of() + [(9, point(0, 0, 3), pixels(3, lambda x, y, z: x == 2))]
        segments = (*SEGMENTS, (9, "lesion", "Lesion"))
        mask = self.seg(frames=frames, segments=segments)
        self.refused_mask("segments overlap, and a voxel has one label: 1 'L3' and 9 'lesion' in 5 voxels: choose segments "
                          "that do not with --mask-labels", mask)
        self.refused_mask("1 'L3' and 9 'lesion'", mask, "--mask-labels", "9,1")
        self.refused_mask("1 'L3' and 9 'lesion'", mask, "--mask-labels", "1", "--pads", "9=100")
        chosen = ("--mask-labels", "1,2")
        for order in (frames, frames[::-1]):
            ours = self.results_of(self.seg(frames=order, segments=segments), *chosen)
            self.assertEqual(ours["response"], self.results_of(self.mask, *chosen)["response"])
        lesion = self.results_of(mask, "--mask-labels", "9,2,7")
        self.assertEqual(lesion["labels"]["9"]["elements"], 6)
        self.refused_mask("the mask has no label 8; it has 1, 2, 7", self.seg(), "--mask-labels", "8")

    def test_files_that_are_no_segmentation(self):
        for message, more in (
                ("is of the segmentation type 'CLOUD'", {"kind": "CLOUD", "bits": 8}),
                ("pixels of 8 bits, which is not of its type", {"bits": 8}),
                ("has no segments", {"segments": ()}),
                ("segment 2 is listed twice", {"segments": (*SEGMENTS, SEGMENTS[1])}),
                ("frame 2 is of segment 1, which is not listed", {"segments": SEGMENTS[1:]}),
                ("says that it has 12 frames, and describes", {"count": 12}),
                ("and describes 3", {"described": 3}),
                ("bytes of pixels, and 9 frames of 7 x 6 pixels of 1 bit have 48", {"drop": 2}),
                ("frame 1 has no position", {"frames": [(1, None, [1] * 42)]}),
                ("frame 1 is of segment 0", {"frames": [(0, point(0, 0, 0), [1] * 42)]}),
                ("does not say what value is a whole", {"kind": "FRACTIONAL", "most": 0})):
            self.refused_mask(message, self.seg(**more))
        self.refused_mask("has the label 7, and no segment has that number", self.label_map(segments=SEGMENTS[:2]))

    def test_damaged_files(self):
        """Files that are cut off are refused, and bytes that are wrong end in a result or a refusal."""
        for syntax in ({}, {"syntax": IMPLICIT, "defined": False}):
            with open(self.seg(**syntax), "rb") as file:
                whole = file.read()
            for size in (*range(140, len(whole) - 2, len(whole) // 7), len(whole) - 2):
                self.refused_mask("seg.dcm: ", self.write("seg.dcm", whole[:size]))
            for place in range(300, len(whole), 331):
                damaged = bytearray(whole)
                damaged[place] ^= 0x41
                self.ossatura("bone", self.nifti, "--mask", self.write("seg.dcm", bytes(damaged)), *LAW, code=(DONE, BAD_FILE))


if __name__ == "__main__":
    driver_case.main()
