"""Find Firefox and WebKit, or install them: python -m tests.browsers.install."""

import glob
import shutil
import sys

from tests.browser.install import attempt, root_prefix

PROGRAMS = {  # by the package of Debian that has them
    "firefox-esr": "firefox-esr",
    "webkit2gtk-driver": "WebKitWebDriver",
    "xvfb": "Xvfb",
}


def minibrowser() -> str | None:
    """Return the path of WebKit's own small browser, which is on no path for programs."""
    paths = glob.glob("/usr/lib/*/webkit2gtk-4.*/MiniBrowser")
    return max(paths, default=None)


def missing() -> list[str]:
    """Return the packages whose programs this machine lacks."""
    lacks = [package for package, program in PROGRAMS.items() if not shutil.which(program)]
    return lacks if minibrowser() else sorted({*lacks, "webkit2gtk-driver"})


def install() -> None:
    """Install what is missing, where apt-get may be used."""
    root = root_prefix()
    if not missing() or root is None or not shutil.which("apt-get"):
        return
    apt_get = [*root, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get"]
    attempt([*apt_get, "update"], seconds=300)
    attempt([*apt_get, "install", "-y", "--no-install-recommends", *missing()], seconds=900)


if __name__ == "__main__":
    install()
    if missing():
        sys.exit(f"Firefox and WebKit are not tried here: install {' '.join(missing())}.")
