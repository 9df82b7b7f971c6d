// Nothing to run: linking is the test.
int main() {}
