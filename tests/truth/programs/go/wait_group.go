// Eight goroutines with sync.WaitGroup and a mutex, that yield in the midst of their recursion.
// truth: ; -gcflags=-l
package main

import (
	"fmt"
	"os"
	"runtime"
	"sync"
)

//go:noinline
func tree(depth int) int {
	if depth <= 0 {
		return 1
	}
	if depth == 4 {
		runtime.Gosched()
	}
	return tree(depth-1) + tree(depth-2)
}

func main() {
	runtime.GOMAXPROCS(1)
	var group sync.WaitGroup
	var lock sync.Mutex
	sum := 0
	for i := 0; i < 8; i++ {
		group.Add(1)
		go func(number int) {
			defer group.Done()
			value := tree(8 + number)
			lock.Lock()
			defer lock.Unlock()
			sum += value
		}(i)
	}
	group.Wait()
	fmt.Println("sum", sum)
	if sum != 4092 {
		os.Exit(1)
	}
}
