/** What a colour says: nothing, well, take care, wrong, moving, ours. */
export type Tone = "grey" | "green" | "amber" | "red" | "blue" | "accent"
