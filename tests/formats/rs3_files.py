"""Small rs3 files: hand-written, and random ones with n-ary trees."""

from hypothesis import strategies as st

NUCLEAR, SATELLITE = ("joint-list", "adversative-contrast"), ("purpose-goal", "causal-cause")
HEADER = "<rst><header><relations>{}</relations></header><body>\n"
RELATIONS = "".join(
    f'<rel name="{name}" type="{kind}"/>'
    for kind, names in (("multinuc", NUCLEAR), ("rst", SATELLITE))
    for name in names
)


def rs3(*lines, relations=RELATIONS):
    """Return a file whose first element is on line 2."""
    return HEADER.format(relations) + "\n".join(lines) + "\n</body></rst>\n"


def element(id, kind="", parent="", relation=""):
    """Return a segment, or a group of type `kind`."""
    link = f' parent="{parent}" relname="{relation}"' if parent else ""
    return f'<group id="{id}" type="{kind}"{link}/>' if kind else f'<segment id="{id}"{link}>unit {id}.</segment>'


@st.composite
def n_ary(draw, most=14):
    """Draw the lines of a file with one root: nested lists, several satellites of a nucleus, groups of one child."""
    edus = draw(st.integers(1, most))
    links, kinds, taken = {}, {}, [edus]

    def group(kind):
        taken[0] += 1
        kinds[taken[0]] = kind
        return taken[0]

    def build(first, last):
        """Build the elements over EDUs `first` to `last`; return the id of the top one, which has no parent yet."""
        if first == last:
            top = first
        else:
            cuts = sorted(draw(st.sets(st.integers(first, last - 1), min_size=1, max_size=3)))
            parts = list(zip([first, *(cut + 1 for cut in cuts)], [*cuts, last], strict=True))
            built = [build(*part) for part in parts]
            if draw(st.booleans()):
                top = group("multinuc")
                label = draw(st.sampled_from(NUCLEAR))
                links.update((child, (top, label)) for child in built)
            else:
                top = group("span")
                nucleus = draw(st.integers(0, len(built) - 1))
                links[built[nucleus]] = (top, "span")
                for place, child in enumerate(built):
                    if place != nucleus:
                        links[child] = (built[nucleus], draw(st.sampled_from(SATELLITE)))
        if draw(st.integers(0, 4)) == 0:
            wrapper = group("span")
            links[top] = (wrapper, "span")
            top = wrapper
        return top

    build(1, edus)
    return [element(id, kinds.get(id, ""), *links.get(id, ())) for id in range(1, taken[0] + 1)]
