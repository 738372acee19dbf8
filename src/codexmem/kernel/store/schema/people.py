"""Who works in a tenant: members, groups of them, and which role was granted to whom in which project."""

from sqlalchemy import BigInteger, Boolean, Column, ForeignKeyConstraint, Index, Table, Text

from codexmem.kernel.store.schema.columns import metadata, tenant

members = Table(
    "members",
    metadata,
    tenant(),
    Column("id", Text, primary_key=True),
    Column("name", Text, nullable=False),
    Column("kind", Text, nullable=False),  # person or service
    Column("created_ms", BigInteger, nullable=False),
    Column("disabled_ms", BigInteger),  # from then on no key of theirs opens anything
    Column("visibility", Text),  # of what is written with their keys; null for that of the project
    # Two members of one name.
    Index("members_name", "tenant", "name", unique=True),
)

# Who of the issuer a member is. The row of a member who was removed stays: he is not to come back by himself.
member_subjects = Table(
    "member_subjects",
    metadata,
    tenant(),
    Column("issuer", Text, primary_key=True),
    Column("subject", Text, primary_key=True),
    Column("member", Text, nullable=False),
    Column("created_ms", BigInteger, nullable=False),
)

groups = Table(
    "groups",
    metadata,
    tenant(),
    Column("name", Text, primary_key=True),
    Column("created_ms", BigInteger, nullable=False),
)

group_members = Table(
    "group_members",
    metadata,
    tenant(),
    Column("group_name", Text, primary_key=True),
    Column("member", Text, primary_key=True),
    ForeignKeyConstraint(["tenant", "group_name"], ["groups.tenant", "groups.name"], ondelete="CASCADE"),
    ForeignKeyConstraint(["tenant", "member"], ["members.tenant", "members.id"], ondelete="CASCADE"),
    # The groups of a member, asked for with each look at a key, that reads other groups.
    Index("group_members_member", "tenant", "member"),
)

grants = Table(
    "grants",
    metadata,
    tenant(),
    Column("holder", Text, primary_key=True),  # member:<id> or group:<name>
    Column("every", Boolean, primary_key=True, autoincrement=False),  # all projects, those to come included
    Column("project", Text, primary_key=True),  # empty where it is every, and for what belongs to no project
    Column("role", Text, nullable=False),
    Column("created_ms", BigInteger, nullable=False),
)
