// Goroutines that go on in another thread than they were suspended in, from several depths of recursion.
// truth: ; -gcflags=-l
package main

import (
	"fmt"
	"os"
	"runtime"
	"sync"
)

const (
	workers = 6
	rounds  = 40
)

//go:noinline
func descend(level int, in <-chan int, out chan<- int) int {
	if level == 0 {
		return meet(in, out)
	}
	return descend(level-1, in, out) + 1
}

//go:noinline
func meet(in <-chan int, out chan<- int) int {
	ball := <-in
	out <- ball + 1
	return 0
}

//go:noinline
func work(depth int) int {
	if depth <= 0 {
		return 1
	}
	return work(depth-1) + work(depth-2)
}

func main() {
	runtime.GOMAXPROCS(4)
	var channels [workers]chan int
	for i := range channels {
		channels[i] = make(chan int, 1)
	}
	var group sync.WaitGroup
	var sums [workers]int
	for i := 0; i < workers; i++ {
		group.Add(1)
		go func(number int) {
			defer group.Done()
			for round := 0; round < rounds; round++ {
				sums[number] += descend((number*7+round)%12, channels[number], channels[(number+1)%workers])
				sums[number] += work(6) - 21
			}
		}(i)
	}
	channels[0] <- 0
	group.Wait()
	ball := <-channels[0]
	sum := 0
	for _, s := range sums {
		sum += s
	}
	expected := 0
	for i := 0; i < workers; i++ {
		for round := 0; round < rounds; round++ {
			expected += (i*7 + round) % 12
		}
	}
	fmt.Println("sum", sum, "ball", ball)
	if sum != expected || ball != workers*rounds {
		os.Exit(1)
	}
}
