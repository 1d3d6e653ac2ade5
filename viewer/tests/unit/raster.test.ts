// SPDX-License-Identifier: MIT OR Apache-2.0
import { describe, expect, test } from 'vitest'
import { cover, NONE, pathLines, raster, runs, upperBound, Windows } from '../../src/raster'
import { random } from '../random'

/** By the definition: for every pixel the time of every kind. */
function plain(ends: number[], causes: number[], from: number, to: number, width: number): Map<number, number>[] {
  const step = (to - from) / width
  return Array.from({ length: width }, (_, pixel) => {
    const [low, high] = [from + pixel * step, from + (pixel + 1) * step]
    const times = new Map<number, number>()
    ends.forEach((end, at) => {
      const time = Math.min(end, high) - Math.max(at > 0 ? ends[at - 1] : 0, low)
      if (time > 0) times.set(causes[at], (times.get(causes[at]) ?? 0) + time)
    })
    return times
  })
}

test('the kind with most time of a pixel is drawn', () => {
  const out = new Uint8Array(4)
  raster([10, 12, 16, 40], [1, 2, 3, 1], 0, 40, out)
  expect([...out]).toEqual([1, 3, 1, 1])
})

test('before the run and behind its last span is nothing', () => {
  const out = new Uint8Array(4)
  raster([10], [5], -10, 30, out)
  expect([...out]).toEqual([NONE, 5, NONE, NONE])
  raster([], [], 0, 1, out)
  expect([...out]).toEqual([NONE, NONE, NONE, NONE])
})

test('random spans are drawn as the definition says', () => {
  const next = random(7)
  for (let round = 0; round < 300; round += 1) {
    const ends: number[] = []
    for (let end = 0; ends.length < 1 + next(60); ) ends.push((end += 1 + next(20)))
    const causes = ends.map(() => next(5))
    const whole = ends[ends.length - 1]
    const from = next(whole) - next(10)
    const to = from + 1 + next(whole)
    const out = new Uint8Array(1 + next(50))
    raster(ends, causes, from, to, out)
    plain(ends, causes, from, to, out.length).forEach((times, pixel) => {
      if (times.size === 0) return // whether an empty pixel is drawn is a matter of rounding
      const most = Math.max(...times.values())
      expect(times.get(out[pixel]) ?? 0, `round ${round}, pixel ${pixel}`).toBeCloseTo(most, 6)
    })
  }
})

test('runs are adjacent pixels of one kind', () => {
  expect(runs(Uint8Array.of(1, 1, NONE, 2))).toEqual([[0, 2, 1], [3, 4, 2]])
})

describe('a window of messages', () => {
  const next = random(3)
  const start = Array.from({ length: 400 }, () => next(1000))
  const end = start.map((time) => time + next(60))
  const windows = new Windows(start, end)
  test('has those that are under way in it', () => {
    for (let round = 0; round < 200; round += 1) {
      const from = next(1100) - 50
      const to = from + next(200)
      const found: number[] = []
      windows.visit(from, to, (message) => found.push(message))
      const expected = start.map((_, message) => message).filter((message) => start[message] <= to && end[message] >= from)
      expect(found.sort((a, b) => a - b)).toEqual(expected)
      expect(windows.count(from, to)).toBe(expected.length)
    }
  })
})

test('bounds are found', () => {
  expect([0, 1, 2, 5].map((value) => upperBound([1, 2, 2, 4], value))).toEqual([0, 1, 3, 4])
})

test('a path of more stretches than pixels has no more lines than can be seen', () => {
  const path = Array.from({ length: 20_000 }, (_, at) => ({ rank: at % 4, start: at * 10, end: at * 10 + 10 }))
  const x = (time: number): number => (time / 200_000) * 1500
  const lines = pathLines(path, [0, 200_000], x, (rank) => 10 * rank)
  expect(lines.length / 4).toBe(4)
  for (let rank = 0; rank < 4; rank += 1) {
    const [left, y, right, end] = lines.slice(4 * rank, 4 * rank + 4)
    expect([y, end]).toEqual([10 * rank, 10 * rank])
    expect(right - left).toBeGreaterThan(1499)
  }
  // Where they can be told apart all are there, and none outside of the window.
  const near = pathLines(path, [1000, 1100], (time) => time * 10, (rank) => rank)
  expect(near.length / 4).toBe(12)
  expect(near.slice(0, 4)).toEqual([9900, 3, 10_000, 3])
})

test('pixels are covered by as much as lies in them', () => {
  const row = new Float32Array(6)
  cover(row, 0.5, 0.75)
  cover(row, 1.25, 3.5)
  cover(row, 3.5, 3.5)
  cover(row, -4, 0.25)
  cover(row, 5.5, 90)
  cover(row, 7, 8)
  expect([...row]).toEqual([0.5, 0.75, 1, 0.5, 0, 0.5])
})
