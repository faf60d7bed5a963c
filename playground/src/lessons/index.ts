import type { Lesson } from "./lesson.js";

export const lessons: readonly Lesson[] = [];
