// The names of functions. tests/unit/base/short_name_test.c has the same list, for both must follow one rule.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FunctionNames } from '../../web/function_names.js';
import { shortName } from '../../web/short_name.js';

/** @type {[string, string][]} */
const NAMES = [
  ['main', 'main'],
  ['std::vector<int, std::allocator<int> >::push_back(int&&)', 'std::vector<>::push_back'],
  ['main::{lambda(bool)#5}::operator()(bool) const', 'main::{lambda(bool)#5}::operator()'],
  ['std::ostream& std::operator<< <char>(std::ostream&, char)', 'std::operator<< <>'],
  ['bool gnu::operator!=<int*, std::vector<int> >(int* const&, int* const&)', 'gnu::operator!=<>'],
  ['bool std::operator< <char>(char, char)', 'std::operator< <>'],
  ['auto main::{lambda(auto:1 const&)#1}::operator()<int>(int const&) const', 'main::{lambda(auto:1 const&)#1}::operator()<>'],
  ['Key::operator std::vector<int>() const', 'Key::operator std::vector<>'],
  ['void (anonymous namespace)::f<int>(int)', '(anonymous namespace)::f<>'],
  ['Ptr::operator->() const', 'Ptr::operator->'],
  ['bool operator<(Key const&, Key const&)', 'bool operator<'],
  ['my_operator<int>(int)', 'my_operator<>'],
  ['void sort<std::pair<int, long>*>(std::pair<int, long>*, int)', 'sort<>'],
  ['<T as core::fmt::Debug>::fmt', '<T as core::fmt::Debug>::fmt'],
  ['main.(*Server).handle', 'main.(*Server).handle'],
  ['f<(a->b)>::g(int) [clone .isra.0]', 'f<>::g'],
  ['broken<int(', 'broken<int('],
  ['größe<int>(int)', 'größe<>'],
  ['[syscall]', '[syscall]'],
  ['operator new(unsigned long)', 'operator new'],
  ['(anonymous namespace)::f(int)', '(anonymous namespace)::f'],
];

test('names are shortened', () => {
  for (const [name, short] of NAMES) assert.equal(shortName(name), short);
});

test('a name is written whole or short, as the user wants it', () => {
  const state = { shortNames: false };
  const functions = /** @type {any[]} */ ([{ name: 'f(int)' }, { name: 'main.(*T).g' }]);
  const names = new FunctionNames(functions, state);
  assert.deepEqual([names.of(0), names.of(7), names.canShorten], ['f(int)', '', true]);
  state.shortNames = true;
  assert.deepEqual([names.of(0), names.of(1), names.of(7)], ['f', 'main.(*T).g', '']);
  assert.equal(new FunctionNames(functions.slice(1), state).canShorten, false);
});
