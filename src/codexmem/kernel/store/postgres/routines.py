"""What runs inside the server: the function that finds texts, and the role that owns it.

Under row-level security an operator that is not leakproof, as is every text match, may only look at rows that the
policy has let through, so no index serves it. The function therefore runs under a role of its own to which a policy
shows the words of every tenant, takes tenant and projects from the transaction, where policies have them from too, and
returns numbers and scores of those alone. Migrations create it, and a restore does again: a dump of tables has no
functions.
"""

from codexmem.kernel.store import bm25
from codexmem.kernel.store.postgres.roles import APP_ROLE, DISPATCH_ROLE, MEMBER_ROLE, SEARCH_ROLE

FIND_TEXTS = "codexmem_find_texts"
_FRESH = 128  # changes that are counted while searching; beyond these, statistics wait for a fold
# A word's weighted count is kept as so many positions. ts_rank of one word with n positions is the sum of 1/i² up to n,
# over that of all i; what is missing to 1 tells n. Measured against unnest(words): twice as fast for texts of 30 words,
# eight times for texts of 400.
_COUNT = "round(1 / (1.64493406685 * (1 - ts_rank('{1,1,1,1}', c.words, s.each)::float8)) - 0.5)"
_FITS = """
    t.tenant = v_tenant AND t.words @@ v_query AND t.kind = ANY (p_kinds) AND t.status = ANY (p_statuses)
    AND (p_created_from IS NULL OR t.created_ms >= p_created_from)
    AND (p_created_to IS NULL OR t.created_ms <= p_created_to)
    AND (p_priority_min IS NULL OR t.priority >= p_priority_min)
    AND (p_priority_max IS NULL OR t.priority <= p_priority_max)
    AND (p_as_of IS NULL OR t.from_ms <= p_as_of)
    AND (v_every OR EXISTS (
        SELECT FROM public.memories m
        WHERE m.tenant = v_tenant AND m.seq = t.seq AND m.project = ANY (v_projects))
        OR EXISTS (
            SELECT FROM public.memory_visibility s WHERE s.tenant = v_tenant AND s.seq = t.seq AND s.owner IS NULL))
    AND (v_viewer = '*' OR NOT EXISTS (
        SELECT FROM public.memory_visibility s
        WHERE s.tenant = v_tenant AND s.seq = t.seq AND s.owner <> v_viewer))
"""
_SIGNATURE = (
    "p_terms text[], p_each text[], p_scope text, p_kinds text[], p_statuses text[], p_created_from bigint, "
    "p_created_to bigint, p_priority_min integer, p_priority_max integer, p_as_of bigint, p_limit integer, "
    "p_all boolean"
)

_FIND = f"""
CREATE OR REPLACE FUNCTION public.{FIND_TEXTS}({_SIGNATURE})
RETURNS TABLE (seq bigint, version integer, score double precision, whole boolean)
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET plan_cache_mode = force_custom_plan
AS $body$
#variable_conflict use_column
DECLARE
    v_tenant text := current_setting('codexmem.tenant');
    -- Known when the plan is made, so that whoever may search all projects pays nothing for the question.
    v_every boolean := current_setting('role') = '{APP_ROLE}'
        OR (current_setting('role') = '{MEMBER_ROLE}' AND current_setting('codexmem.reads_every') = 'on');
    v_viewer text := coalesce(current_setting('codexmem.viewer', true), '');
    v_projects text[] := CASE WHEN v_every THEN '{{}}' ELSE current_setting('codexmem.reads') END::text[];
    v_each tsquery[] := p_each::tsquery[];
    v_scope tsquery := p_scope::tsquery;
    v_texts float8;
    v_tokens float8;
    v_fresh integer;
    v_idf float8[];
    v_rare boolean;
    v_whole boolean;
    v_query tsquery;
    v_others tsquery;
BEGIN
    SELECT count(*) INTO v_fresh
    FROM (SELECT FROM public.text_changes WHERE tenant = v_tenant LIMIT {_FRESH + 1}) few;
    SELECT coalesce(sum(texts), 0), coalesce(sum(tokens), 0) INTO v_texts, v_tokens
    FROM (
        SELECT texts, tokens FROM public.text_counts WHERE tenant = v_tenant
        UNION ALL
        (SELECT x.sign, x.sign * t.length FROM public.text_changes x
         JOIN public.memory_texts t ON t.tenant = v_tenant AND t.seq = x.seq AND t.version = x.version
         WHERE x.tenant = v_tenant LIMIT {_FRESH + 1})
    ) counts;
    v_texts := greatest(v_texts, 1);
    v_tokens := greatest(v_tokens, v_texts);

    WITH fresh AS MATERIALIZED (
        SELECT x.sign, t.words FROM public.text_changes x
        JOIN public.memory_texts t ON t.tenant = v_tenant AND t.seq = x.seq AND t.version = x.version
        WHERE x.tenant = v_tenant AND v_fresh <= {_FRESH}
    ), known AS (
        SELECT u.place, u.each, greatest(
            coalesce(m.texts, 0) + coalesce((SELECT sum(sign) FROM fresh WHERE words @@ u.each), 0), 0
        )::float8 AS texts
        FROM unnest(p_terms, v_each) WITH ORDINALITY AS u (term, each, place)
        LEFT JOIN public.memory_terms m ON m.tenant = v_tenant AND m.term = u.term
    ), chosen AS (
        SELECT *, greatest(ln(greatest(v_texts - texts + 0.5, 1e-9) / (texts + 0.5)), {bm25.LEAST_IDF}) AS idf,
               row_number() OVER w AS rank, sum(texts) OVER w <= {bm25.ENOUGH} AS rare
        FROM known WINDOW w AS (ORDER BY texts, place ROWS UNBOUNDED PRECEDING)
    )
    SELECT array_agg(idf ORDER BY place), bool_or(rare) OR p_all, p_all OR bool_and(rare) OR count(*) = 1,
           string_agg(each::text, ' | ') FILTER (WHERE p_all OR rare OR rank = 1),
           string_agg(each::text, ' | ') FILTER (WHERE rank > 1)
    INTO v_idf, v_rare, v_whole, v_query, v_others FROM chosen;
    IF NOT v_rare THEN
        v_query := v_query && coalesce(v_others, v_query);
    END IF;
    v_query := v_query && v_scope;

    RETURN QUERY
    SELECT c.seq, c.version, (
        SELECT sum(s.idf * f.n * {bm25.K1 + 1}
                   / (f.n + {bm25.K1} * ({1 - bm25.B} + {bm25.B} * c.length * v_texts / v_tokens)))
        FROM unnest(v_each, v_idf) AS s (each, idf), LATERAL (SELECT {_COUNT} AS n) f
    ), v_whole
    FROM (
        -- setweight makes one plain copy of words that are stored compressed, else each term would unpack them.
        SELECT t.seq, t.version, t.length, setweight(t.words, 'D') AS words
        FROM public.memory_texts t WHERE t.to_ms IS NULL AND {_FITS}
        UNION ALL
        SELECT t.seq, t.version, t.length, setweight(t.words, 'D') AS words
        FROM public.memory_texts t WHERE t.to_ms > p_as_of AND {_FITS}
        OFFSET 0
    ) c
    ORDER BY 3 DESC, 1 DESC LIMIT p_limit;
END
$body$
"""  # noqa: S608  our own text


def roles() -> list[str]:
    """Create the roles that are not there, and let whoever does this become them."""
    return [statement for role in (APP_ROLE, MEMBER_ROLE, DISPATCH_ROLE, SEARCH_ROLE) for statement in (
        # Roles belong to the cluster: another database of it may have made them already, perhaps at this moment.
        f"""
        DO $$ BEGIN
            IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '{role}') THEN
                CREATE ROLE {role} NOLOGIN NOSUPERUSER NOBYPASSRLS NOCREATEDB NOCREATEROLE;
            END IF;
        EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL;
        END $$
        """,
        f"GRANT USAGE ON SCHEMA public TO {role}",
        f"DO $$ BEGIN EXECUTE format('GRANT {role} TO %I', current_user); END $$",
    )]  # fmt: skip


def functions() -> list[str]:
    """Create or renew the functions, owned by the search role and callable by the application's alone."""
    name = f"public.{FIND_TEXTS}"
    return [
        # Whoever is to own a function must be allowed to create one there, at that moment.
        f"GRANT CREATE ON SCHEMA public TO {SEARCH_ROLE}",
        _FIND,
        f"ALTER FUNCTION {name} OWNER TO {SEARCH_ROLE}",
        f"REVOKE CREATE ON SCHEMA public FROM {SEARCH_ROLE}",
        f"REVOKE ALL ON FUNCTION {name} FROM PUBLIC",
        f"GRANT EXECUTE ON FUNCTION {name} TO {APP_ROLE}, {MEMBER_ROLE}",
    ]
