// Exceptions, generators, promises, garbage and hot loops for the JIT compilers; for tests/truth/long_runs.
'use strict';
function dive(depth) {
    if (depth === 0)
        throw new RangeError('bottom');
    try {
        return dive(depth - 1) + 1;
    } catch (error) {
        if (depth % 7)
            throw error;
        return depth;
    }
}
function* numbers(limit) {
    for (let i = 0; i < limit; i++)
        yield i;
}
let total = 0;
for (let i = 7; i < 120; i++) {
    total += dive(i);
    for (const number of numbers(i))
        total += number;
    total += [...'abc'.repeat(i)].sort((a, b) => (a < b ? 1 : -1)).length;
    total += JSON.parse(JSON.stringify({ list: Array.from({ length: i }, (_, k) => ({ k })) })).list.length;
}
(async () => {
    for (let i = 0; i < 50; i++)
        total += await new Promise((resolve) => setImmediate(() => resolve(i)));
    console.log(total);
})();
