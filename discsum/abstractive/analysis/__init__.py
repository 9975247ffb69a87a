"""What attention, sparsity and time look like: the numbers behind the pictures of `discsum analyze`."""
