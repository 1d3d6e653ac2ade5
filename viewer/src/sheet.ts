// SPDX-License-Identifier: MIT OR Apache-2.0
// What stands around a saved picture, which has left its page: what it is of, what its colours mean,
// and the settings that it depends on.

import type { Theme } from './palette'
import type { Pen } from './pen'

/** An entry of a key; one without a colour is a text before the others. */
export type Entry = { colour: string | null; name: string; isRound?: boolean }
export type Around = { title: string; key: Entry[]; foot: string[] }

const LEFT = 10
const LINE = 16
const SMALL = 12
/** Width of a letter as a share of its size, no less than what fonts have on average. */
const LETTER = 0.62

/** A text in lines of at most so many letters, ended at blanks. */
export function lines(text: string, most: number): string[] {
  const found: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > most) {
      found.push(line)
      line = word
    } else line = line === '' ? word : `${line} ${word}`
  }
  return [...found, line]
}

type Placed = { entry: Entry; x: number; y: number }

/** Entries of a key in rows of a width. */
export function rows(key: Entry[], width: number): { placed: Placed[]; height: number } {
  const placed: Placed[] = []
  let [x, y] = [LEFT, 0]
  for (const entry of key) {
    const wide = (entry.colour === null ? 0 : 16) + entry.name.length * 11 * LETTER + 12
    if (x > LEFT && x + wide > width) [x, y] = [LEFT, y + LINE]
    placed.push({ entry, x, y })
    x += wide
  }
  return { placed, height: key.length === 0 ? 0 : y + LINE }
}

function letters(width: number, size: number): number {
  return Math.max(20, Math.floor((width - 2 * LEFT) / (size * LETTER)))
}

export function heightAbove({ title }: Around, width: number): number {
  return title === '' ? 8 : lines(title, letters(width, 13)).length * LINE + 8
}

export function heightBelow({ key, foot }: Around, width: number): number {
  const small = foot.flatMap((one) => lines(one, letters(width, 9))).length
  return 6 + rows(key, width).height + small * SMALL + 6
}

/** Draws what is above a picture, and what is below one that ends at `bottom`. */
export function frame(pen: Pen, { title, key, foot }: Around, width: number, bottom: number, theme: Theme): void {
  const text = theme === 'dark' ? '#dfe3e8' : '#1b1f24'
  lines(title, letters(width, 13)).forEach((line, at) => { pen.text(LEFT, 16 + at * LINE, line, text, 13, 'start', true) })
  let y = bottom + 6
  const { placed, height } = rows(key, width)
  for (const { entry, x, y: down } of placed) {
    const at = y + down
    if (entry.colour !== null) {
      if (entry.isRound === true) pen.dots([x + 5.5, at + 5.5], 5, entry.colour)
      else pen.rect(x, at, 11, 11, entry.colour)
    }
    pen.text(x + (entry.colour === null ? 0 : 16), at + 10, entry.name, text, 11, 'start')
  }
  y += height
  for (const line of foot.flatMap((one) => lines(one, letters(width, 9)))) {
    pen.text(LEFT, y + 9, line, text, 9, 'start')
    y += SMALL
  }
}
