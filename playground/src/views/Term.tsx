import glossary from "virtual:glossary";
import { For, type JSX } from "solid-js";

const NAMES = new Map(Object.keys(glossary).map((name) => [name.toLowerCase(), name]));

// Longer terms first, so that "congestion window" is not "window"; a plural counts too.
const TERMS = new RegExp(
  `\\b(${[...NAMES.keys()]
    .sort((a, b) => b.length - a.length)
    .map((name) => name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"))
    .join("|")})(s|es)?\\b`,
  "gi",
);

/** The distance of a meaning from the window's edge, in CSS pixels. */
const EDGE = 8;

let last = 0;

/**
 * A word with its meaning for those who point at it or come to it with the keyboard: that of the glossary, if no other is given.
 * Escape closes it.
 */
export function Term(props: { name: string; meaning?: string; children?: JSX.Element }) {
  const meaning = () => props.meaning ?? glossary[NAMES.get(props.name.toLowerCase()) ?? ""];
  last += 1;
  const id = `term-${last}`;
  let word!: HTMLButtonElement;
  let tip!: HTMLSpanElement;
  /** Shows the meaning beneath the word, or above it, inside the window and over everything. */
  function show() {
    tip.showPopover();
    const [at, size] = [word.getBoundingClientRect(), tip.getBoundingClientRect()];
    const { clientWidth, clientHeight } = document.documentElement;
    const left = Math.max(EDGE, Math.min(at.left, clientWidth - size.width - EDGE));
    const below = at.bottom + 4;
    const top = below + size.height < clientHeight ? below : Math.max(EDGE, at.top - size.height - 4);
    Object.assign(tip.style, { left: `${left}px`, top: `${top}px` });
  }
  const hide = () => tip.hidePopover();
  return (
    <span class="term">
      <button
        type="button"
        ref={(element) => {
          word = element;
        }}
        aria-describedby={id}
        onPointerEnter={show}
        onPointerLeave={hide}
        onFocus={show}
        onBlur={hide}
        onKeyDown={({ key }) => key === "Escape" && hide()}
      >
        {props.children ?? props.name}
      </button>
      <span
        role="tooltip"
        id={id}
        popover="manual"
        ref={(element) => {
          tip = element;
        }}
      >
        {meaning()}
      </span>
    </span>
  );
}

/** A text, with the first mention of each word of the field explained. */
export function Text(props: { children: string }) {
  const parts = () => {
    const whole = props.children.replaceAll("`", "");
    const seen = new Set<string>();
    const found: { text: string; term: string | null }[] = [];
    let at = 0;
    for (const match of whole.matchAll(TERMS)) {
      const term = (match[1] as string).toLowerCase();
      if (seen.has(term)) continue;
      seen.add(term);
      found.push({ text: whole.slice(at, match.index), term: null }, { text: match[0], term });
      at = match.index + match[0].length;
    }
    return [...found, { text: whole.slice(at), term: null }];
  };
  return (
    <For each={parts()}>{({ text, term }) => (term === null ? text : <Term name={term}>{text}</Term>)}</For>
  );
}
