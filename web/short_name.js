// A function's name without template arguments and parameters, which may take thousands of letters in C++. The same rule as
// src/base/short_name.c:
//
//   std::vector<int, std::allocator<int> >::push_back(int&&)   std::vector<>::push_back
//   main::{lambda(bool)#5}::operator()(bool) const             main::{lambda(bool)#5}::operator()
//
// Other names stay as they are, like <T as Trait>::f of Rust and main.(*T).f of Go. No DOM here.

const WORD = /[\p{L}\p{N}_\u0080-\uffff]/u;
/** What a function's name may have after its parameters. */
const END_OF_NAME = /^(| const| &| &&| const &| const &&| volatile| \[clone[^]*)$/;
const OPERATOR = /(^|[^\p{L}\p{N}_\u0080-\uffff])operator$/u;
/** The name of an operator, and with its template arguments the bracket that opens them. */
const OPERATOR_NAME = /^(<=>|<<=|>>=|->\*|<<|>>|->|&&|\|\||\+\+|--|\(\)|\[\]|[<>=!+\-*/%^&|]=|[-+*/%^&|~!=<>,])( ?<)?/;

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
  if (!name.endsWith('<>')) return name;
  let start = 0;
  let depth = 0;
  for (let at = 0; at < name.length; at++) {
    const sign = name[at];
    depth += Number(sign === '(' || sign === '{') - Number(sign === ')' || sign === '}');
    if (sign === ' ' && depth === 0 && at !== name.length - 3 && !OPERATOR.test(name.slice(0, at))) start = at + 1;
  }
  return name.slice(start);
}

/** @param {string} name */
export function shortName(name) {
  let short = '';
  for (let at = 0; at < name.length; ) {
    const named = name[at - 1] === 'r' && OPERATOR.test(short) ? OPERATOR_NAME.exec(name.slice(at)) : null;
    if (named !== null) {
      const [, operator, opening = ''] = named;
      const open = at + operator.length + opening.length - 1;
      const end = opening === '' ? -1 : findClosing(name, open, '<', '>');
      short += end < 0 ? operator : `${operator}${opening}>`;
      at = end < 0 ? at + operator.length : end + 1;
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
