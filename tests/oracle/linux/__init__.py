"""The Linux kernel as reference, in virtual time: `make oracle-linux`. README.md says how it is run."""
