// web/format.js: sensible digits at every size.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as format from '../../web/format.js';

/** @param {string} text */
const plain = (text) => text.replaceAll('\u00a0', ' ');

test('a duration has four digits and its unit', () => {
  const cases = /** @type {[number, string][]} */ ([
    [0, '0 ns'], [1, '1 ns'], [17, '17 ns'], [2.5, '2.5 ns'], [999, '999 ns'], [1000, '1.000 us'], [1234, '1.234 us'], [12345, '12.35 us'],
    [123456, '123.5 us'], [999949, '999.9 us'], [999950, '1.000 ms'], [999999, '1.000 ms'], [12345678, '12.35 ms'], [1e9, '1.000 s'],
    [104.2e9, '104.2 s'], [12345e9, '12,345 s'], [-1500, '-1.500 us'],
  ]);
  for (const [ns, text] of cases) assert.equal(plain(format.formatDuration(ns)), text);
});

test('the length of a span that has none is less than a nanosecond', () => {
  assert.equal(plain(format.formatLength(0)), '<1 ns');
  assert.equal(plain(format.formatLength(1)), '1 ns');
  assert.equal(plain(format.formatLength(1234)), '1.234 us');
});

test('a moment differs from its neighbours', () => {
  assert.equal(plain(format.formatTime(1234567890)), '1.234567890 s');
  assert.equal(plain(format.formatTime(1234567890, 1000)), '1.234568 s');
  assert.equal(plain(format.formatTime(1234567890, 1e9)), '1 s');
  assert.equal(plain(format.formatTime(1500, 100)), '1.5 us');
  assert.equal(plain(format.formatTime(0, 1000)), '0 ns');
  assert.equal(plain(format.formatTime(42, 0.001)), '42 ns');
});

test('counts, shares, values', () => {
  assert.equal(format.formatCount(3204), '3,204');
  assert.equal(plain(format.formatCounted(1, 'call')), '1 call');
  assert.equal(plain(format.formatCounted(2, 'match', 'matches')), '2 matches');
  assert.equal(plain(format.formatShare(1, 8)), '12.5 %');
  assert.equal(plain(format.formatShare(1, 100000)), '< 0.1 %');
  assert.equal(plain(format.formatShare(5, 5)), '100 %');
  assert.equal(plain(format.formatShare(0, 5)), '0.0 %');
  assert.equal(plain(format.formatShare(1, 0)), '0 %');
  assert.equal(plain(format.formatValue(3.14159, 'GHz')), '3.142 GHz');
  assert.equal(plain(format.formatValue(2800000, '')), '2,800,000');
  assert.equal(plain(format.formatExact(12345678)), '12,345,678 ns');
});

test('the wall clock keeps its nanoseconds', () => {
  assert.equal(format.formatWallClock('1700000000123456789', 11), '2023-11-14 22:13:20.123456800 UTC');
});
