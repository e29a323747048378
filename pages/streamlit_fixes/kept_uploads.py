"""How much of visitors' uploads Streamlit keeps.

Streamlit takes any number of files for a session, keeps them in memory until it ends, and does not
say how many there are.

Upstream: https://github.com/streamlit/streamlit/issues/3401
Relies on: `file_storage` of the runtime's uploaded file manager: files by session and by name.
"""

from collections import Counter
from typing import Any

from streamlit.runtime import get_instance


def kept_bytes() -> Counter[str]:
    """Return the bytes of the files that Streamlit keeps, by session."""
    manager: Any = get_instance().uploaded_file_mgr  # a MemoryUploadedFileManager
    storage = manager.file_storage
    return Counter(
        {
            session: sum(len(file.data) for file in tuple(files.values()))
            for session, files in tuple(storage.items())
        }
    )
