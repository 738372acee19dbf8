"""The documents of signing in: what is offered, what a device needs, and who a request acts for."""

from typing import Annotated, Literal, Self

from pydantic import Field

from codexmem.kernel.model.tenant import Identity, TenantRole
from codexmem.kernel.wire import WireAnswer, WireRequest
from codexmem.operations.sign_in import Credential

_MACHINE = r"[A-Za-z0-9][A-Za-z0-9._-]{0,59}"


class SignInOffer(WireAnswer):
    """Whether people can sign in here, and with whom."""

    issuer: str | None = Field(description="Host of the issuer; null where nobody can sign in.")


class DeviceCode(WireAnswer):
    """What a person opens and types in, and what the device asks with meanwhile."""

    device_code: str
    user_code: str
    verification_uri: str
    verification_uri_complete: str | None
    expires_in: int
    interval: int


class DeviceTokenRequest(WireRequest):
    """Whether the code was typed in."""

    device_code: Annotated[str, Field(min_length=1, max_length=2_000)]
    machine: Annotated[str, Field(pattern=f"^{_MACHINE}$", description="What the key is called after.")]
    role: TenantRole = TenantRole.WRITER


class DeviceToken(WireAnswer):
    """A key for the device; without one, why there is none yet."""

    status: Literal["authorization_pending", "slow_down", "done"]
    secret: str | None = None
    member: str | None = None
    tenant: str | None = None
    role: TenantRole | None = None
    expires_ms: int | None = None


class ProjectRole(WireAnswer):
    """A role in a project; the project "" is what belongs to none."""

    project: str
    role: TenantRole


class WhoAmI(WireAnswer):
    """For whom a request acts, and what it may do."""

    tenant: str
    actor: str
    by: Literal["session", "key", "none"] = Field(description="What the request came with: none is a local store's.")
    member: str | None
    role: TenantRole = Field(description="The highest role anywhere.")
    everywhere: TenantRole | None = Field(description="The role in projects that are not listed.")
    projects: tuple[ProjectRole, ...]
    expires_ms: int | None

    @classmethod
    def of(cls, identity: Identity, credential: Credential) -> Self:
        """As it is told."""
        rights = identity.rights
        return cls(
            tenant=identity.tenant, actor=identity.actor, member=credential.member,
            by=credential.kind, role=identity.role,
            everywhere=identity.role if rights is None else rights.everywhere,
            projects=tuple(ProjectRole(project=name, role=role) for name, role in (rights.roles if rights else ())),
            expires_ms=credential.expires_ms,
        )  # fmt: skip


class SignOutAnswer(WireAnswer):
    """Whether there was something to end."""

    ended: bool
