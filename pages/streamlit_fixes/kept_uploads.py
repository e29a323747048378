"""Counts the bytes of the uploads that Streamlit keeps in memory.

Streamlit accepts any number of files in a session, keeps them until the session ends, and has no
public way to count them.

Upstream: https://github.com/streamlit/streamlit/issues/3401
Relies on: `file_storage` of the runtime's uploaded file manager: the files of each session.
"""

from collections import Counter
from typing import Any

from streamlit.runtime import get_instance


def kept_bytes() -> Counter[str]:
    """Return how many bytes of uploaded files Streamlit keeps for each session."""
    manager: Any = get_instance().uploaded_file_mgr  # in fact a MemoryUploadedFileManager
    storage = manager.file_storage
    return Counter(
        {
            session: sum(len(file.data) for file in tuple(files.values()))
            for session, files in tuple(storage.items())
        }
    )
