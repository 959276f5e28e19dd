// Goroutines whose selected function waits on channels, and goes on in whichever thread comes to it, for recordings of some functions alone
// (-only). Eight of them call chosen() 20 times each, which calls part() before and after it has waited. Prints how many calls returned.
package main

import (
	"fmt"
	"runtime"
	"sync"
)

const goroutines, calls = 8, 20

//go:noinline
func part(number int) int {
	for i := 0; i < 100; i++ {
		number = number*31 + i
	}
	return number
}

//go:noinline
func otherWork(number int) int {
	for i := 0; i < 20000; i++ {
		number = number*17 + i
	}
	return number
}

//go:noinline
func chosen(number int, in <-chan int, out chan<- int) int {
	result := part(number)
	result += <-in
	result += part(result)
	out <- result
	return part(result)
}

func main() {
	runtime.GOMAXPROCS(4)
	in, out := make(chan int), make(chan int)
	var group sync.WaitGroup
	returned := make([]int, goroutines)
	for g := 0; g < goroutines; g++ {
		group.Add(1)
		go func(g int) {
			defer group.Done()
			for i := 0; i < calls; i++ {
				chosen(i, in, out)
				otherWork(i)
				returned[g]++
			}
		}(g)
	}
	go func() {
		for i := 0; i < goroutines*calls; i++ {
			otherWork(i)
			in <- i
		}
	}()
	for i := 0; i < goroutines*calls; i++ {
		<-out
		otherWork(i)
	}
	group.Wait()
	total := 0
	for _, count := range returned {
		total += count
	}
	fmt.Println(total)
}
