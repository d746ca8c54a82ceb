"""Object stores behind one small interface: ranged reads, atomic writes, copies inside the store."""
