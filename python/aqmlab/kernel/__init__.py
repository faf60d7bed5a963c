"""The laws of ``kernel/`` as queue disciplines of this machine's kernel, in BPF."""
