"""Signatures in the format of ``ssh-keygen -Y``: Ed25519 over canonical bytes, so that anyone can verify them.

The mathematics is the library ``cryptography``; here are only the envelopes of OpenSSH's PROTOCOL.sshsig.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import textwrap
from pathlib import Path
from typing import Any

from plumbline.base.errors import ApprovalError, NotFoundError

__all__ = ["NAMESPACE", "read_key", "sign", "verify_signature"]

NAMESPACE = "plumbline"
"""What a signature is for: ``ssh-keygen -Y verify -n plumbline``."""
_MAGIC = b"SSHSIG"
_BEGIN, _END = "-----BEGIN SSH SIGNATURE-----", "-----END SSH SIGNATURE-----"
_KIND = b"ssh-ed25519"


def _string(content: bytes) -> bytes:
    return len(content).to_bytes(4, "big") + content


def _take(blob: bytes) -> tuple[bytes, bytes]:
    size = int.from_bytes(blob[:4], "big")
    if len(blob) < 4 + size:
        raise ValueError("cut off")
    return blob[4 : 4 + size], blob[4 + size :]


def _signed(message: bytes) -> bytes:
    digest = hashlib.sha512(message).digest()
    return _MAGIC + _string(NAMESPACE.encode()) + _string(b"") + _string(b"sha512") + _string(digest)


def read_key(path: str | Path) -> Any:
    """Read a private key that ``ssh-keygen -t ed25519`` made.

    Parameters
    ----------
    path : path
        The private key, without a passphrase.

    Returns
    -------
    cryptography Ed25519PrivateKey

    Raises
    ------
    NotFoundError
        There is no such file.
    ApprovalError
        Another kind of key, or one under a passphrase.
    """
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import load_ssh_private_key

    path = Path(path)
    if not path.is_file():
        raise NotFoundError(f"there is no key {path}; make one with: ssh-keygen -t ed25519 -N '' -f {path}")
    mend = f"sign with a key made by: ssh-keygen -t ed25519 -N '' -f {path.name}"
    try:
        key = load_ssh_private_key(path.read_bytes(), password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        raise ApprovalError("unsigned", f"{path} is no private key that can be read ({error})", mend) from None
    if not isinstance(key, Ed25519PrivateKey):
        raise ApprovalError("unsigned", f"{path} is a {type(key).__name__}, not Ed25519", mend)
    return key


def _public(key: Any) -> bytes:
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

    return _string(_KIND) + _string(key.public_bytes(Encoding.Raw, PublicFormat.Raw))


def sign(message: bytes, key: Any) -> str:
    """Sign bytes.

    Parameters
    ----------
    message : bytes
        What is signed.
    key : Ed25519PrivateKey
        From :func:`read_key`.

    Returns
    -------
    str
        An armoured SSH signature.
    """
    raw = _string(_KIND) + _string(key.sign(_signed(message)))
    blob = _MAGIC + (1).to_bytes(4, "big") + _string(_public(key.public_key())) + _string(NAMESPACE.encode())
    blob += _string(b"") + _string(b"sha512") + _string(raw)
    body = "\n".join(textwrap.wrap(base64.b64encode(blob).decode(), 70))
    return f"{_BEGIN}\n{body}\n{_END}\n"


def verify_signature(message: bytes, signature: str, public_key: str) -> bool:
    """Return whether a signature is of these bytes by this key.

    Parameters
    ----------
    message : bytes
        What should have been signed.
    signature : str
        An armoured SSH signature.
    public_key : str
        As in ``id_ed25519.pub``: ``ssh-ed25519 AAAA… comment``.

    Returns
    -------
    bool
        False also for a signature that cannot be read.
    """
    from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    from cryptography.hazmat.primitives.serialization import load_ssh_public_key

    try:
        key = load_ssh_public_key(public_key.encode())
        if not isinstance(key, Ed25519PublicKey):
            return False
        inside = signature.strip().removeprefix(_BEGIN).removesuffix(_END)
        blob = base64.b64decode("".join(inside.split()), validate=True)
        if blob[:10] != _MAGIC + (1).to_bytes(4, "big"):
            return False
        owner, rest = _take(blob[10:])
        namespace, rest = _take(rest)
        _, rest = _take(rest)
        hashed, rest = _take(rest)
        raw, rest = _take(rest)
        kind, raw = _take(raw)
        value, left = _take(raw)
        fits = (namespace, hashed, kind, rest, left) == (NAMESPACE.encode(), b"sha512", _KIND, b"", b"")
        if not fits or owner != _public(key):
            return False
        key.verify(value, _signed(message))
    except (InvalidSignature, UnsupportedAlgorithm, ValueError, binascii.Error):
        return False
    return True
