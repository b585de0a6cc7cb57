// As much of Markdown as handouts and hovers use: headings, paragraphs, lists, code, emphasis.
import { make } from "./dom";

export function rendered(text: string): DocumentFragment {
  const out = document.createDocumentFragment();
  const lines = text.split("\n");
  for (let n = 0; n < lines.length; ) {
    const line = lines[n];
    const heading = /^(#{1,4}) (.*)$/.exec(line);
    if (line.startsWith("```")) {
      const begin = ++n;
      while (n < lines.length && !lines[n].startsWith("```")) n++;
      out.append(make("pre", { tabindex: "0" }, lines.slice(begin, n++).join("\n")));
    } else if (heading !== null) {
      out.append(inline(make(heading[1].length === 1 ? "h2" : "h3"), heading[2]));
      n++;
    } else if (/^[-*] /.test(line)) {
      const list = make("ul");
      for (; n < lines.length && /^([-*] |  )/.test(lines[n]); n++) {
        if (/^[-*] /.test(lines[n])) list.append(inline(make("li"), lines[n].slice(2)));
        else inline(list.lastElementChild as HTMLElement, ` ${lines[n].trim()}`);
      }
      out.append(list);
    } else if (line.startsWith("|")) {
      const table = make("table");
      for (; n < lines.length && lines[n].startsWith("|"); n++) {
        if (/^\|[-| :]+$/.test(lines[n])) continue;
        const row = make("tr");
        for (const cell of lines[n].slice(1, -1).split("|")) row.append(inline(make("td"), cell.trim()));
        table.append(row);
      }
      out.append(table);
    } else if (line.trim() === "" || line === "---") {
      n++;
    } else {
      const begin = n;
      while (n < lines.length && lines[n].trim() !== "" && !/^(```|#|[-*] |\|)/.test(lines[n])) n++;
      if (n === begin) n++;
      out.append(inline(make("p"), lines.slice(begin, n).join(" ")));
    }
  }
  return out;
}

function inline<T extends HTMLElement>(into: T, text: string): T {
  for (const part of text.split(/(`[^`]+`|\*\*[^*]+\*\*|\*[^*]+\*|\[[^\]]+\]\([^)]+\))/)) {
    if (part.startsWith("`")) into.append(make("code", {}, part.slice(1, -1)));
    else if (part.startsWith("**")) into.append(make("strong", {}, part.slice(2, -2)));
    else if (part.startsWith("*") && part.length > 2) into.append(make("em", {}, part.slice(1, -1)));
    else into.append(/^\[([^\]]+)\]\(/.exec(part)?.[1] ?? part);
  }
  return into;
}
