"""How lanes access memory: checked accesses, texture and surface handles, asynchronous copies."""
