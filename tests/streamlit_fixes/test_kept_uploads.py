from types import SimpleNamespace

from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.uploaded_file_manager import UploadedFileRec

from headlight.pages.streamlit_fixes import kept_uploads


def test_the_bytes_of_all_files_of_a_session_are_counted(monkeypatch):
    """If it fails, read in kept_uploads.py where Streamlit keeps files now."""
    manager = MemoryUploadedFileManager("/_stcore/upload_file")
    runtime = SimpleNamespace(uploaded_file_mgr=manager)
    monkeypatch.setattr(kept_uploads, "get_instance", lambda: runtime)
    for session, name, size in (("one", "a", 3), ("one", "b", 4), ("two", "a", 5)):
        manager.add_file(session, UploadedFileRec(name, "name", "type", bytes(size)))
    assert kept_uploads.kept_bytes() == {"one": 7, "two": 5}
    manager.remove_session_files("one")
    assert kept_uploads.kept_bytes() == {"two": 5}
