"""Exceptions, generators and recursion errors; for tests/truth/long_runs."""
import re


def dive(depth, levels):
    try:
        if depth == 0:
            raise KeyError(levels)
        return dive(depth - 1, levels)
    except KeyError as error:
        if depth % 3 == 0:
            raise ValueError(depth) from error
        raise
    except ValueError:
        if depth % 7 == 0:
            return depth
        raise
    finally:
        levels.append(depth)


def numbers(limit):
    try:
        for number in range(limit):
            yield number
    finally:
        yield -1


def delegate(limit):
    result = yield from numbers(limit)
    return result


def endless(depth):
    return endless(depth + 1) + 1


def endless_in_c(depth):
    return sorted([depth], key=lambda value: endless_in_c(value + 1))


def key(value):
    if value % 97 == 0:
        raise ValueError(value)
    return -value


def sort_and_fail(size):
    try:
        return sorted(range(size), key=key)[0]
    except ValueError:
        return sorted(range(1, 90), key=key)[0]


class Resource:
    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        return kind is ZeroDivisionError


def main():
    total = 0
    for size in range(1, 120):
        levels = []
        try:
            total += dive(size, levels) or 0
        except (KeyError, ValueError):
            total += len(levels)
        total += sum(delegate(size))
        generator = numbers(5)
        next(generator)
        try:
            generator.throw(IndexError)
        except IndexError:
            total += 1
        del generator
        total += sort_and_fail(size)
        with Resource():
            total += 7 // (size % 5)
        total += len(re.sub(r"(\d+)", lambda found: str(int(found.group(1)) + 1), "a1 b22 c333" * 5))
    for _ in range(3):
        for recurse in endless, endless_in_c:
            try:
                recurse(0)
            except RecursionError:
                total += 1
    print(total)


main()
