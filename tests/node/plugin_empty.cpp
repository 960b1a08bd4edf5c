// A shared object without a node.
extern "C" int nothing_of_use() { return 0; }
