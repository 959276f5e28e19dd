// Recursion that makes the runtime copy a goroutine's stack to a larger place, several times.
// truth: ; -gcflags=-l
package main

import (
	"fmt"
	"os"
	"runtime"
)

//go:noinline
func descend(depth int, above *[16]int) int {
	var here [16]int
	here[depth%16] = depth
	if depth == 0 {
		return 0
	}
	below := descend(depth-1, &here)
	// The pointer was moved together with the stack.
	if above[(depth+1)%16] != depth+1 {
		return -1000000
	}
	return below + here[depth%16]/depth
}

func main() {
	runtime.GOMAXPROCS(1)
	results := make(chan int)
	for depth := 10; depth <= 10000; depth *= 10 {
		go func(depth int) {
			var above [16]int
			above[(depth+1)%16] = depth + 1
			results <- descend(depth, &above)
		}(depth)
	}
	sum := 0
	for i := 0; i < 4; i++ {
		sum += <-results
	}
	fmt.Println("sum", sum)
	if sum != 11110 {
		os.Exit(1)
	}
}
