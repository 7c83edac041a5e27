/** Questions to all workers at once, with a bound: one that does not answer in time is left out. */
import type { Answer } from "./messages.js"

interface Open {
  readonly waiting: Set<number>
  readonly answers: Array<Answer>
  readonly finish: () => void
}

export interface Questions {
  /** Asks the workers of these numbers; `put` hands over a question's id. Resolves with the answers that have come in time. */
  readonly ask: (numbers: ReadonlyArray<number>, put: (number: number, id: number) => void) => Promise<ReadonlyArray<Answer>>
  readonly answered: (number: number, id: number, value: unknown) => void
  /** A worker has gone, and answers nothing more. */
  readonly gone: (number: number) => void
}

/** `within` is in milliseconds. */
export const makeQuestions = (within: number): Questions => {
  const open = new Map<number, Open>()
  let last = 0
  const settle = ({ finish, waiting }: Open, number: number): void => {
    if (waiting.delete(number) && waiting.size === 0) finish()
  }
  return {
    ask: (numbers, put) =>
      new Promise((resolve) => {
        const id = ++last
        const answers: Array<Answer> = []
        const finish = (): void => {
          clearTimeout(timer)
          open.delete(id)
          resolve(answers)
        }
        const timer = setTimeout(finish, within)
        open.set(id, { waiting: new Set(numbers), answers, finish })
        if (numbers.length === 0) return finish()
        for (const number of numbers) put(number, id)
      }),
    answered: (number, id, value) => {
      const question = open.get(id)
      if (question === undefined || !question.waiting.has(number)) return
      question.answers.push({ number, value })
      settle(question, number)
    },
    gone: (number) => {
      for (const question of open.values()) settle(question, number)
    }
  }
}
