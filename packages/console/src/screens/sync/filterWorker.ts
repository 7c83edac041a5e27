/** The worker that matches: the page goes on, and ends it if it takes too long. */
import { type FilterQuestion, matchesOf } from "./filter.js"

addEventListener("message", ({ data }: MessageEvent<FilterQuestion>) => postMessage(matchesOf(data)))
