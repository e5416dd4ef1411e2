"""What is defensible: certificates, their verification, and gates."""

from plumbline.decide.certificate import Certificate, certify

__all__ = ["Certificate", "certify"]
