// What house.instructions must find: AVX-512 code in a function whose name does not say so.
using Wide [[gnu::vector_size(64)]] = float;

void widely_added(Wide& a, const Wide& b);
void widely_added(Wide& a, const Wide& b) { a += b; }
