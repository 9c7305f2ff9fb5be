"""Where documents are kept: one small interface, by which a folder and a Volume look alike."""

from forebay.storage.folder import FolderStorage
from forebay.storage.interface import CHUNK, Storage, StorageError
from forebay.storage.roots import ROOTS, locate, named_roots, prepare, roots

__all__ = [
    "CHUNK",
    "ROOTS",
    "FolderStorage",
    "Storage",
    "StorageError",
    "locate",
    "named_roots",
    "prepare",
    "roots",
]
