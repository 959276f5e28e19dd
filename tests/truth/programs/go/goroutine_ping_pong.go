// Goroutines that pass a ball over channels, each from another depth of its recursion.
// truth: ; -gcflags=-l
package main

import (
	"fmt"
	"os"
	"runtime"
)

const (
	players = 3
	depth   = 40
)

//go:noinline
func descend(level int, in <-chan int, out chan<- int) int {
	ball := <-in
	out <- ball + 1
	if level == 0 {
		return 0
	}
	return descend(level-1, in, out) + 1
}

func main() {
	runtime.GOMAXPROCS(1)
	var channels [players]chan int
	for i := range channels {
		channels[i] = make(chan int, 1)
	}
	done := make(chan int, players)
	for i := 0; i < players; i++ {
		go func(number int) {
			done <- descend(depth, channels[number], channels[(number+1)%players])
		}(i)
	}
	channels[0] <- 0
	sum := 0
	for i := 0; i < players; i++ {
		sum += <-done
	}
	ball := <-channels[0]
	fmt.Println("sum", sum, "ball", ball)
	if sum != players*depth || ball != players*(depth+1) {
		os.Exit(1)
	}
}
