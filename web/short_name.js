// A function's name without template arguments and parameters, which may take thousands of letters in C++. The same rule as
// src/output/short_name.c:
//
//   std::vector<int, std::allocator<int> >::push_back(int&&)   std::vector<>::push_back
//   main::{lambda(bool)#5}::operator()(bool) const             main::{lambda(bool)#5}::operator()
//
// Other names stay as they are, like <T as Trait>::f of Rust and main.(*T).f of Go. No DOM here.

const WORD = /[\p{L}\p{N}_\u0080-\uffff]/u;
/** What a function's name may have after its parameters. */
const END_OF_NAME = /^(| const| &| &&| const &| const &&| volatile| \[clone[^]*)$/;
const OPERATOR = /(^|[^\p{L}\p{N}_\u0080-\uffff])operator$/u;
const OPERATOR_SIGNS = /^(?:[<>=!+\-*/%&|^~,[\]]+|\(\))/;

/**
 * Where the bracket is that closes the one at `open`; -1: it stays open.
 * @param {string} name @param {number} open @param {string} opening @param {string} closing
 */
function findClosing(name, open, opening, closing) {
  let depth = 0;
  for (let at = open; at < name.length; at++) {
    if (closing === '>' && at > open && name.startsWith('->', at)) {
      at++;
      continue;
    }
    depth += Number(name[at] === opening) - Number(name[at] === closing);
    if (depth === 0) return at;
  }
  return -1;
}

/**
 * Names of template functions begin with the type that they return.
 * @param {string} name
 */
function withoutReturnType(name) {
  return name.endsWith('<>') ? name.slice(name.lastIndexOf(' ') + 1) : name;
}

/** @param {string} name */
export function shortName(name) {
  let short = '';
  for (let at = 0; at < name.length; ) {
    const signs = name[at - 1] === 'r' && OPERATOR.test(short) ? OPERATOR_SIGNS.exec(name.slice(at)) : null;
    if (signs !== null) {
      short += signs[0];
      at += signs[0].length;
      continue;
    }
    const sign = name[at];
    let closing = -1;
    if (sign === '<' && short !== '' && WORD.test(short[short.length - 1]) && (closing = findClosing(name, at, '<', '>')) >= 0) {
      short += '<>';
      at = closing + 1;
    } else if (sign === '{' && (closing = findClosing(name, at, '{', '}')) >= 0) {
      short += name.slice(at, closing + 1);
      at = closing + 1;
    } else if (sign === '(' && short !== '' && (closing = findClosing(name, at, '(', ')')) >= 0 && END_OF_NAME.test(name.slice(closing + 1))) {
      break;
    } else {
      short += sign;
      at++;
    }
  }
  return withoutReturnType(short);
}
