// Functions with arguments and results of many types, called three times each; tests/e2e/symbol/arguments.py knows with which values.
package main

import (
	"errors"
	"fmt"
)

type Point struct {
	X, Y int32
	Z    float64
}
type Shape interface{ Area() float64 }
type Colour uint8

//go:noinline
func add(a int, b int64) int { return a + int(b) }

//go:noinline
func mixed(x float64, n int32, ok bool, y float32) (float64, error) {
	if !ok {
		return 0, errors.New("no")
	}
	return x*float64(n) + float64(y), nil
}

//go:noinline
func text(s string, at int) string { return s[at:] }

//go:noinline
func sums(v []int, p *Point, c Colour) (sum int, found bool) {
	for _, x := range v {
		sum += x
	}
	return sum + int(p.X) + int(c), sum > 3
}

//go:noinline
func (p Point) Area() float64 { return float64(p.X*p.Y) * p.Z }

//go:noinline
func shape(s Shape, m map[string]int) int { return int(s.Area()) + len(m) }

// More than there are registers: the last ones are on the stack.
//
//go:noinline
func many(a, b, c, d, e, f, g, h, i, j int, k int16) int {
	return a + b + c + d + e + f + g + h + i + j + int(k)
}

// An array of several elements is on the stack, one of one element in a register.
//
//go:noinline
func array(a [3]int, b [1]int, unused int) int { return a[0] + a[2] + b[0] }

//go:noinline
func wave(a complex128, b complex64, x float64) complex128 { return a + complex128(b) + complex(x, 0) }

//go:noinline
func nothing(struct{}) {}

func main() {
	sum := 0
	for i := 0; i < 3; i++ {
		sum += add(i, int64(-i))
		value, err := mixed(1.5, int32(i), i != 1, 2.25)
		sum += int(value)
		if err != nil {
			sum++
		}
		sum += len(text("hello, world", i))
		total, found := sums([]int{i, 2, 3}, &Point{1, 2, 3}, Colour(i))
		if found {
			sum += total
		}
		sum += shape(Point{int32(i), 2, 0.5}, map[string]int{"a": 1})
		sum += many(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, int16(-i))
		sum += array([3]int{i, 1, 2}, [1]int{i}, 4)
		sum += int(real(wave(complex(1.5, float64(i)), complex(-2, 0.5), 3)))
		nothing(struct{}{})
	}
	fmt.Println(sum)
}
