// Panics recovered 1, 5 and 50 frames up, with deferred calls on the way.
// truth: ; -gcflags=-l
package main

import (
	"fmt"
	"os"
	"runtime"
)

var deferred int

//go:noinline
func work(depth int) int {
	if depth == 0 {
		return 0
	}
	return work(depth-1) + 1
}

//go:noinline
func dive(depth int) int {
	defer func() { deferred += work(depth%3) - depth%3 + 1 }()
	if depth == 1 {
		panic(7)
	}
	return dive(depth-1) + 1
}

//go:noinline
func attempt(depth int) (value int) {
	defer func() {
		if thrown := recover(); thrown != nil {
			value = thrown.(int)
		}
	}()
	return dive(depth)
}

func main() {
	runtime.GOMAXPROCS(1)
	depths := []int{1, 5, 50}
	sum := 0
	for i := 0; i < 60; i++ {
		sum += attempt(depths[i%3])
	}
	fmt.Println("sum", sum, "deferred", deferred)
	if sum != 420 || deferred != 20*56 {
		os.Exit(1)
	}
}
