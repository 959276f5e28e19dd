// Deferred functions that panic themselves while a panic is on its way; faults become panics.
// truth: ; -gcflags=-l
package main

import (
	"errors"
	"fmt"
	"os"
	"runtime"
)

var errDeep = errors.New("deep")

//go:noinline
func replaces(depth int) {
	defer func() {
		panic(fmt.Errorf("level %d: %w", depth, errDeep))
	}()
	if depth > 0 {
		replaces(depth - 1)
	}
	panic("first")
}

//go:noinline
func fault(kind int, numbers []int, pointer *int) int {
	switch kind {
	case 0:
		return numbers[len(numbers)+kind]
	case 1:
		return *pointer
	default:
		return 1 / (kind - 2)
	}
}

//go:noinline
func recovered(call func()) (thrown interface{}) {
	defer func() { thrown = recover() }()
	call()
	return nil
}

func main() {
	runtime.GOMAXPROCS(1)
	right := 0
	for i := 0; i < 30; i++ {
		thrown := recovered(func() { replaces(i) })
		if err, ok := thrown.(error); ok && errors.Is(err, errDeep) {
			right++
		}
		if _, ok := recovered(func() { fault(i%3, []int{1}, nil) }).(runtime.Error); ok {
			right++
		}
	}
	fmt.Println("right", right)
	if right != 60 {
		os.Exit(1)
	}
}
