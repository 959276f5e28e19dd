// A server for tests/services/run: server PORT
package main

import (
	"fmt"
	"net/http"
	"os"
	"sort"
)

//go:noinline
func answer() string {
	numbers := make([]int, 1000)
	for i := range numbers {
		numbers[i] = 999 - i
	}
	sort.Ints(numbers)
	total := 0
	for _, number := range numbers {
		total += number
	}
	return fmt.Sprintf("the answer is %d\n", total)
}

func main() {
	http.HandleFunc("/", func(writer http.ResponseWriter, request *http.Request) {
		fmt.Fprint(writer, answer())
	})
	fmt.Fprintln(os.Stderr, http.ListenAndServe("127.0.0.1:"+os.Args[1], nil))
}
