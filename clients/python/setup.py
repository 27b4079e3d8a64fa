"""What pyproject.toml cannot say: a wheel may have the program in it, which the environment's TAILBACK_PROGRAM names."""

import os
import platform
import re
import shutil
from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py

PROGRAM = os.environ.get("TAILBACK_PROGRAM")
# The libraries that each Linux with the GNU C library has.
EVERYWHERE = re.compile(rb"(ld-linux[\w-]*|libc|libm|libdl|librt|libpthread|libgcc_s)\.so")


class Build(build_py):
    """Puts the program beside the package."""

    def run(self) -> None:
        super().run()
        if PROGRAM:
            place = Path(self.build_lib) / "tailback" / "bin" / "tailback"
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(PROGRAM, place)
            place.chmod(0o755)


class Package(Distribution):
    """What is in a wheel with the program is not for all machines."""

    def has_ext_modules(self) -> bool:
        return bool(PROGRAM)


class Wheel(bdist_wheel):
    """Is for any Python 3, and with the program for the machines that it runs on."""

    def get_tag(self) -> tuple[str, str, str]:
        python, abi, machines = super().get_tag()
        return ("py3", "none", machines_of(Path(PROGRAM), machines)) if PROGRAM else (python, abi, machines)


def machines_of(program: Path, otherwise: str) -> str:
    """The platform tag of a program: if it needs nothing but the GNU C library, each Linux whose library is as new as
    what the program asks for."""
    content = program.read_bytes()
    # Names in the table of strings of an ELF file end with a zero.
    libraries = re.findall(rb"\0(?=((?:lib|ld-)[\w+-]+\.so[\w.]*)\0)", content)
    versions = [int(minor) for minor in re.findall(rb"GLIBC_2\.(\d+)(?:\.\d+)?\0", content)]
    if otherwise.startswith("linux_") and versions and all(map(EVERYWHERE.match, libraries)):
        return f"manylinux_2_{max(versions)}_{platform.machine()}"
    return otherwise


setup(distclass=Package, cmdclass={"build_py": Build, "bdist_wheel": Wheel})
