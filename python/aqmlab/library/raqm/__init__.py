"""The paper on RAQM."""
