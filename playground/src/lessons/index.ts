import { bufferbloat } from "./bufferbloat";
import { fairness } from "./fairness";
import { impactFigure11 } from "./impact-figure-11";
import { l4s } from "./l4s";
import type { Lesson } from "./lesson";
import { lred } from "./lred";
import { lredFigure6 } from "./lred-figure-6";
import { pi } from "./pi";
import { red } from "./red";
import { redtail } from "./redtail";
import { redtailFigure10 } from "./redtail-figure-10";
import { surveyFigure2 } from "./survey-figure-2";
import { synchronisation } from "./synchronisation";

/** The lessons in the order in which a reader takes them: eight of them, then four figures of papers. */
export const lessons: readonly Lesson[] = [
  bufferbloat,
  red,
  synchronisation,
  pi,
  lred,
  redtail,
  fairness,
  l4s,
  lredFigure6,
  redtailFigure10,
  surveyFigure2,
  impactFigure11,
];
