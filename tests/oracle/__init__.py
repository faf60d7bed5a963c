"""The same runs in ns-2.35 and here, side by side: `make oracle`. README.md says where ns-2's come from."""
