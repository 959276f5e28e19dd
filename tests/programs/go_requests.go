// A goroutine answers requests of main. For go_stripped.py, with and without symbols.
package main

import "os"

type shape interface{ area() int }
type square struct{ side int }

func (s *square) area() int { return s.side * s.side }

func small(x int) int { return x*3 + 1 }

func middle(x int) int {
	total := small(x)
	for i := 0; i < 3; i++ {
		total += small(x + i)
	}
	return total
}

//go:noinline
func handler(n int) int {
	total := 0
	for i := 0; i < n; i++ {
		total += middle(i)
	}
	return total
}

func main() {
	requests, answers := make(chan int), make(chan int)
	go func() {
		for n := range requests {
			answers <- handler(n)
		}
	}()
	sum := 0
	for i := 0; i < 20; i++ {
		requests <- i
		sum += <-answers
	}
	var s shape = &square{len(os.Args)}
	if sum+s.area() == 0 {
		os.Exit(1)
	}
}
